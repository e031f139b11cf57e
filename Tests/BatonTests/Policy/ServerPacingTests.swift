import Baton
import Foundation
import Testing

@Suite("Server pacing")
struct ServerPacingTests {
    private static let date = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    private func note(
        _ status: Int, _ fields: HTTPFields, in state: inout ServerPacingState, at now: Instant, random: UInt64 = 0
    ) -> Instant? {
        state.note(HTTPResponseHead(status: status, fields: fields), at: now, date: Self.date, random: { random })
    }

    @Test(
        "429 and 503 with a Retry-After pause the host until then",
        arguments: [
            (429, "7", 7.0), (503, " 7 ", 7), (503, "Sun, 06 Nov 1994 08:49:47 GMT", 10), (429, "3600", 60),
            (429, "99999999999999999999", 60),
        ])
    func pauses(status: Int, value: String, seconds: Double) {
        var state = ServerPacingState(ServerPacing())
        #expect(note(status, ["Retry-After": value], in: &state, at: at(100)) == at(100 + seconds))
        #expect(state.pace(at: at(100)) == .paused(until: at(100 + seconds)))
    }

    @Test("A date is relative to the response's own date")
    func wrongClock() {
        var state = ServerPacingState(ServerPacing())
        let fields: HTTPFields = [
            "Retry-After": "Sat, 06 Nov 2004 08:49:47 GMT", "Date": "Sat, 06 Nov 2004 08:49:37 GMT",
        ]
        #expect(note(503, fields, in: &state, at: at(0)) == at(10))
    }

    @Test(
        "What asks for no wait pauses nothing",
        arguments: [
            (429, "0"), (429, "-1"), (429, "1.5"), (429, ""), (503, "Sun, 06 Nov 1994 08:49:37 GMT"), (200, "5"),
            (500, "5"), (302, "5"),
        ])
    func ignores(status: Int, value: String) {
        var state = ServerPacingState(ServerPacing())
        #expect(note(status, ["Retry-After": value], in: &state, at: at(0)) == nil)
        #expect(note(429, [:], in: &state, at: at(0)) == nil)
        #expect(state.pace(at: at(0)) == .free)
    }

    @Test("A pause is prolonged and never shortened")
    func prolonged() {
        var state = ServerPacingState(ServerPacing())
        #expect(note(429, ["Retry-After": "10"], in: &state, at: at(0)) == at(10))
        #expect(note(429, ["Retry-After": "2"], in: &state, at: at(1)) == nil)
        #expect(state.pace(at: at(5)) == .paused(until: at(10)))
        #expect(note(429, ["Retry-After": "10"], in: &state, at: at(4)) == at(14))
    }

    @Test("A pause is up to ten per cent longer than asked, and never shorter")
    func jitter() {
        var random = SplitMix64(seed: 8)
        var ends: Set<Instant> = []
        for _ in 0..<200 {
            var state = ServerPacingState(ServerPacing())
            let end = note(429, ["Retry-After": "10"], in: &state, at: at(0), random: random.next())!
            #expect(end >= at(10) && end <= at(11))
            ends.insert(end)
        }
        #expect(ends.count > 190)
    }

    @Test("After a pause the limit doubles with each step, and then nothing is held back")
    func resumption() {
        var state = ServerPacingState(ServerPacing(lastLimit: 10))
        _ = note(429, ["Retry-After": "10"], in: &state, at: at(0))
        #expect(state.pace(at: at(10)) == .limited(to: 1, until: at(10.25)))
        #expect(state.pace(at: at(10.25)) == .limited(to: 2, until: at(10.5)))
        #expect(state.pace(at: at(10.6)) == .limited(to: 4, until: at(10.75)))
        #expect(state.pace(at: at(10.75)) == .limited(to: 8, until: at(11)))
        #expect(state.pace(at: at(11)) == .free)
    }

    @Test("A host that asks again while it resumes is paused again")
    func again() {
        var state = ServerPacingState(ServerPacing())
        _ = note(429, ["Retry-After": "10"], in: &state, at: at(0))
        #expect(state.pace(at: at(10.3)) == .limited(to: 2, until: at(10.5)))
        #expect(note(503, ["Retry-After": "1"], in: &state, at: at(10.3)) == at(11.3))
        #expect(state.pace(at: at(10.5)) == .paused(until: at(11.3)))
        #expect(state.pace(at: at(11.3)) == .limited(to: 1, until: at(11.55)))
    }

    @Test("A resumption without steps, and the largest limits, come to an end")
    func extremes() {
        var state = ServerPacingState(ServerPacing(step: .zero, lastLimit: .max))
        _ = note(429, ["Retry-After": "1"], in: &state, at: at(0))
        #expect(state.pace(at: at(1)) == .free)
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            ServerPacing(longestPause: .seconds(-1)), ServerPacing(jitter: .nan), ServerPacing(firstLimit: 0),
            ServerPacing(firstLimit: 65), ServerPacing(step: .seconds(-1)),
        ])
    func faults(pacing: ServerPacing) {
        #expect(pacing.fault != nil)
        #expect(ServerPacing().fault == nil)
    }
}
