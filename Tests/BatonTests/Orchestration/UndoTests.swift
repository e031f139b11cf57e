import Baton
import BatonTesting
import Testing

@Suite("Orchestration: undoing")
struct UndoTests {
    /// Books a thing; undone by a DELETE of the same path.
    private static func book(_ n: Int) -> Chain<EmptyResponse> {
        Send(path: "/bookings/\(n)").undo { _ in Send(method: .delete, path: "/bookings/\(n)") }
    }

    private static func story(_ requests: [HTTPRequest]) -> [String] {
        requests.map { "\($0.method == .delete ? "-" : "+")\($0.number ?? 0)" }
    }

    /// Booking 9 fails; everything takes a second.
    private static func transport(failingUndo: Int? = nil, silentUndo: Int? = nil) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let isUndo = request.method == .delete
            if isUndo, request.number == silentUndo { return .silence }
            let fails = isUndo ? request.number == failingUndo : request.number == 9
            return .reply(.status(fails ? 409 : 200), after: .seconds(1))
        }
    }

    @Test("When a later step fails, steps that had succeeded are undone, last one first; the error is the cause")
    func reverse() async throws {
        let transport = Self.transport()
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let plan = Self.book(1).then { _ in Self.book(2) }.then { _ in Self.book(3) }.then { _ in Self.book(9) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.response?.status == 409)
            #expect(error.path.hasPrefix("chain[3]"))
            #expect(error.undoFailures.isEmpty)
            #expect(Self.story(transport.sent) == ["+1", "+2", "+3", "+9", "-3", "-2", "-1"])
        }
    }

    @Test("A run that succeeds undoes nothing")
    func success() async throws {
        let transport = Self.transport()
        try await withVirtualTime(transport: transport) { client, _ in
            _ = try await client.run(Self.book(1).then { _ in Self.book(2) })
            #expect(transport.sent.count == 2)
        }
    }

    @Test(
        "A cancel undoes what was done, shielded from it and from further cancels, and only undos are sent after it",
        arguments: [0, 1, 7, 30] as [UInt64])
    func cancelled(seed: UInt64) async throws {
        let transport = Self.transport()
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport, seed: seed, configure: { $0.observers = [observer] }
        ) { client, clock in
            let run = client.start(Self.book(1).then { _ in Self.book(2) }.then { _ in Self.book(3) })
            try await clock.sleep(for: .milliseconds(2_500))
            run.cancel()
            try await clock.sleep(for: .milliseconds(500))
            run.cancel()
            client.cancelAll()
            let error = try await failure { try await run.value }
            #expect(error.isCancelled)
            #expect(Self.story(transport.sent) == ["+1", "+2", "+3", "-2", "-1"])
            #expect(clock.elapsed == .milliseconds(4_500))
        }
        let marks = observer.events.compactMap { event -> Bool? in
            if case .attemptStarted(let attempt) = event { attempt.isUndo } else { nil }
        }
        #expect(marks == [false, false, false, true, true])
    }

    @Test("A cancel of a paused run undoes all the same")
    func paused() async throws {
        let transport = Self.transport()
        try await withVirtualTime(transport: transport) { client, clock in
            let run = client.start(Self.book(1).then { _ in Self.book(2) })
            run.pause()
            run.resume()
            try await clock.sleep(for: .milliseconds(500))
            run.pause()
            try await clock.sleep(for: .seconds(5))
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            #expect(Self.story(transport.sent) == ["+1", "-1"])
            #expect(clock.elapsed == .milliseconds(6_500))
        }
    }

    @Test("An undo's failure stands beside the cause, does not hide it, and does not keep the others from running")
    func undoFails() async throws {
        let transport = Self.transport(failingUndo: 2)
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let plan = Self.book(1).then { _ in Self.book(2) }.then { _ in Self.book(9) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.request == "POST http://mock/bookings/9")
            #expect(error.undoFailures.map(\.request) == ["DELETE http://mock/bookings/2"])
            #expect(Self.story(transport.sent) == ["+1", "+2", "+9", "-2", "-1"])
        }
    }

    @Test("Each undo has a deadline of its own")
    func deadline() async throws {
        let transport = Self.transport(silentUndo: 1)
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let plan = Send(path: "/bookings/1")
                .undo(deadline: .seconds(4)) { _ in Send(method: .delete, path: "/bookings/1") }
                .then { _ in Self.book(9) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.undoFailures.map(\.code) == [.deadlineExceeded])
            #expect(clock.elapsed == .seconds(6))
        }
    }

    @Test("A closure that makes an undo and throws is a failure of the undo")
    func throwing() async throws {
        struct Broken: Error {}
        let transport = Self.transport()
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let plan = Self.book(1).undo { _ -> Send in throw Broken() }.then { _ in Self.book(9) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.undoFailures.first?.underlying is Broken)
            #expect(Self.story(transport.sent) == ["+1", "+9", "-1"])
        }
    }

    /// Ways in which a step that was booked can stand within the plan.
    enum Place: CaseIterable, Sendable {
        case nested, deadline, tag, zip, batch, shared, optional

        func plan(_ n: Int) -> Chain<Void> {
            switch self {
            case .nested: book(0).then { _ in book(n).then { _ in Chain.value(()) } }
            case .deadline: book(n).deadline(.seconds(60)).map { _ in }
            case .tag: book(n).tag("t").deadline(.seconds(50)).map { _ in }
            case .zip: Baton.zip(book(n), Chain.value(1)).map { _ in }
            case .batch: Batch([book(n)]).chain.map { _ in }
            case .shared: book(n).shared().map { _ in }
            case .optional: Chain.value(()).then { _ -> Chain<EmptyResponse>? in book(n) }.map { _ in }
            }
        }
    }

    @Test("Steps within parts of any kind are undone when something outside the part fails", arguments: Place.allCases)
    func places(place: Place) async throws {
        let transport = Self.transport()
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let plan = Self.book(1).then { _ in place.plan(2) }.then { _ in Self.book(9) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.response?.status == 409)
            let undone = Self.story(transport.sent).filter { $0.hasPrefix("-") && $0 != "-0" }
            #expect(undone == ["-2", "-1"])
        }
    }

    @Test("Of a zip that fails, the parts that had succeeded are undone")
    func zipFails() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 9
                ? .reply(.status(409), after: .seconds(3)) : .reply(.status(200), after: .seconds(1))
        }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            _ = try await failure { try await client.run(zip(Self.book(1), Self.book(9), Self.book(2).map { _ in 1 })) }
            #expect(Self.story(transport.sent).suffix(2).sorted() == ["-1", "-2"])
        }
    }

    @Test(
        "Whenever the cancel comes, what was done is undone once, and nothing else is",
        arguments: 0..<80 as Range<UInt64>)
    func property(seed: UInt64) {
        let transport = ScriptedTransport { request, _ in .reply(.status(200), after: .milliseconds(10)) }
        let run = SeededRun(seed: seed, transport)
        let handle = run.client.start(
            Self.book(1).then { _ in Self.book(2).deadline(.seconds(9)) }.then { _ in zip(Self.book(3), Self.book(4)) })
        run.at(.milliseconds(Int(seed % 5) * 10)) { handle.cancel() }
        run.drive()
        let accepted = run.observer.events.compactMap { event -> String? in
            guard case .attemptEnded(let attempt, .success) = event, !attempt.isUndo else { return nil }
            return "\(attempt.request.number ?? 0)"
        }
        let undone = transport.sent.filter { $0.method == .delete }.map { "\($0.number ?? 0)" }
        if run.observer.story.last == "run ended" {
            #expect(undone.isEmpty)
        } else {
            #expect(Set(undone).isSubset(of: Set(accepted)))
            #expect(Set(undone).count == undone.count)
        }
        #expect(run.client.counts.inFlight == 0)
    }
}

/// Books a thing; undone by a DELETE of the same path.
private func book(_ n: Int) -> Chain<EmptyResponse> {
    Send(path: "/bookings/\(n)").undo { _ in Send(method: .delete, path: "/bookings/\(n)") }
}
