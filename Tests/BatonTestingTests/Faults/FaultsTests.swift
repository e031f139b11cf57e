import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What goes wrong, by rule and by seed") struct FaultsTests {
    let mock = MockTransport()
    let faults: Faults

    init() {
        mock.on(.get, "/a").reply(status: 200, fields: ["Content-Length": "10"], body: Data("0123456789".utf8))
        faults = Faults(around: mock, seed: 7)
    }

    private let call = Call("/a", as: String.self)

    @Test(
        "A fault of the connection fails the request, and reaches the server or not",
        arguments: [(Fault.refuse, BatonError.Code.cannotConnect, 0), (.loseReply, .connectionLost, 1)])
    func connection(_ fault: Fault, _ code: BatonError.Code, _ arrivals: Int) async throws {
        faults.inject(fault, onCall: 1)
        let client = Client(faults)
        #expect(await client.error(of: call)?.code == code)
        #expect(mock.calls.count == arrivals)
        #expect(try await client.run(call) == "0123456789")
        #expect(faults.injected.map(\.description) == ["request 1, GET /a: \(fault)"])
    }

    @Test(
        "What never ends is ended by the attempt's timeout",
        arguments: [(Fault.timeOutBeforeSending, 0), (.stallBody(after: 4), 1)])
    func silence(_ fault: Fault, _ arrivals: Int) async throws {
        faults.inject(fault, onCall: 1)
        try await withVirtualTime(transport: faults) { [call] client, clock in
            let error = await client.error(of: call.chain)
            #expect(error == nil)
            #expect(clock.elapsed >= .seconds(60))
            #expect(clock.pendingTimers == 0)
        }
        #expect(mock.calls.count == arrivals + 1)
        #expect(mock.inFlight == 0)
    }

    @Test(
        "A body that is cut or stalls shows its first bytes",
        arguments: [Fault.cutBody(after: 4), .stallBody(after: 4)])
    func partOfBody(_ fault: Fault) async throws {
        faults.inject(fault, onCall: 1)
        let probe = Probe()
        let transmission = faults.send(try HTTPRequest(url: "https://h/a"), to: probe.receiver)
        #expect(probe.now.head?.status == 200)
        #expect(probe.body == Data("0123".utf8))
        transmission.cancel()
        #expect(probe.code == (fault == .cutBody(after: 4) ? .connectionLost : .cancelled))
        #expect(probe.now.ends == 1)
    }

    @Test("A body without end can be cut, and the exchange behind it ends")
    func endless() async throws {
        mock.on(.get, "/endless").reply(chunks: ["abc", "def", "ghi"].map { Data($0.utf8) }, every: .seconds(60))
        faults.inject(.cutBody(after: 2), onCall: 1)
        let probe = Probe()
        _ = faults.send(try HTTPRequest(url: "https://h/endless"), to: probe.receiver)
        #expect(probe.body == Data("ab".utf8))
        #expect(probe.code == .connectionLost)
        #expect(mock.inFlight == 0)
    }

    @Test("A body drips on the clock of the client")
    func drip() async throws {
        faults.inject(.drip(bytes: 3, every: .seconds(2)), onCall: 1)
        try await withVirtualTime(transport: faults) { [call] client, clock in
            let text = try await client.run(call)
            #expect(text == "0123456789")
            #expect(clock.elapsed == .seconds(6))
        }
    }

    @Test("A wrong length loses the connection or cuts the body, and garbage keeps the length")
    func body() async throws {
        faults.inject(.wrongLength(by: 5), onCall: 1)
        faults.inject(.wrongLength(by: -5), onCall: 2)
        faults.inject(.garbageBody, onCall: 3)
        let client = Client(faults)
        #expect(await client.error(of: call)?.code == .connectionLost)
        let short = try await client.run(Call("/a", as: HTTPResponse.self))
        #expect(short.body == Data("01234".utf8))
        #expect(short.head.contentLength == 5)
        let noise = try await client.run(Call("/a", as: Data.self))
        #expect(noise.count == 10)
        #expect(noise != Data("0123456789".utf8))
    }

    @Test("A burst of 503 is as long as was asked, and says when to come back")
    func burst() async throws {
        faults.inject(.unavailable(count: 2, retryAfter: .milliseconds(1_500)), onCall: 2, path: "/a")
        // The host's wish to be left alone is not what this is about.
        let client = Client(baseURL: "https://api.example.com", transport: faults, retry: .none) { $0.pacing = nil }
        _ = try await client.run(call)
        for _ in 0..<2 {
            let error = await client.error(of: call)
            #expect(error?.response?.status == 503)
            #expect(error?.response?.fields[.retryAfter] == "2")
        }
        _ = try await client.run(call)
        #expect(faults.injected.map(\.call) == [2, 3])
    }

    @Test("A rule with a path leaves other requests alone")
    func paths() async throws {
        mock.on(pattern: "/orders/*").reply(status: 204)
        faults.inject(.refuse, probability: 1, path: "/orders/*")
        let client = Client(faults)
        _ = try await client.run(call)
        #expect(await client.error(of: Call("/orders/1", as: EmptyResponse.self))?.code == .cannotConnect)
        faults.removeAll()
        _ = try await client.run(Call("/orders/1", as: EmptyResponse.self))
    }

    @Test("The same seed strikes the same requests, and about as many as the probability says", arguments: [1, 2, 3])
    func seeds(_ seed: UInt64) async throws {
        func strikes(_ seed: UInt64) async throws -> [Int] {
            let faults = Faults(around: mock, seed: seed)
            faults.inject(.refuse, probability: 0.25)
            faults.inject(.loseReply, probability: 0.25)
            for _ in 0..<400 { _ = faults.send(try HTTPRequest(url: "https://h/a"), to: Probe().receiver) }
            return faults.injected.map(\.call)
        }
        let first = try await strikes(seed)
        #expect(try await strikes(seed) == first)
        #expect(try await strikes(seed + 100) != first)
        #expect((120...230).contains(first.count))
    }

    @Test("Faults around a real transport cannot be driven by virtual time")
    func notInMemory() async {
        let faults = Faults(around: BufferedTransport { _ in HTTPResponse(status: 204) })
        let error = await #expect(throws: BatonError.self) {
            try await withVirtualTime(transport: faults) { _, _ in }
        }
        #expect(error?.code == .unsupported)
    }

    @Test("Faults that are shut down end what they hold back, and the transport behind them")
    func shutdown() throws {
        faults.inject(.timeOutBeforeSending, onCall: 1)
        let (held, late) = (Probe(), Probe())
        _ = faults.send(try HTTPRequest(url: "https://h/a"), to: held.receiver)
        #expect(held.now.ends == 0)
        faults.shutdown()
        _ = faults.send(try HTTPRequest(url: "https://h/a"), to: late.receiver)
        #expect(held.code == .transportClosed)
        #expect(late.code == .transportClosed)
        #expect(held.now.ends == 1)
    }

    @Test("A reply that is lost while its body comes is lost all the same")
    func lostStream() async throws {
        mock.on(.get, "/parts").reply(chunks: ["abc", "def"].map { Data($0.utf8) }, every: .seconds(1))
        faults.inject(.loseReply, onCall: 1)
        try await withVirtualTime(transport: faults, configure: { $0.retry = .none }) { client, _ in
            #expect(await client.error(of: Call("/parts", as: String.self))?.code == .connectionLost)
            let text = try await client.run(Call("/parts", as: String.self))
            #expect(text == "abcdef")
        }
        #expect(mock.inFlight == 0)
    }
}
