import Baton
import BatonTesting
import Dispatch
import Testing

/// The attempt's clock on real time, over the transport whose own timeouts are not to be trusted.
@Suite("The attempt's clock over URLSession")
struct AttemptTimeoutTests {
    @Test("O36: requests that wait for their turn do not use up their timeout", arguments: [1, 20])
    func clockStartsWithTheSlot(limit: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        // One after the other they take longer than one attempt may.
        server.on(.get, "/slow", .status(204).delayed(by: .milliseconds(250)))
        let transport = URLSessionTransport()
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.timeout = .seconds(limit == 1 ? 3 : 60)
            $0.maxConcurrency = limit
        }
        let report = try await client.run(
            Batch((0..<20).map { _ in Call("/slow", as: EmptyResponse.self) }, maxConcurrency: 20))
        #expect(report.allSucceeded)
        transport.shutdown()
    }
    @Test("O36: nothing follows a cancel, not even when the timeout would have come")
    func nothingAfterCancel() async throws {
        // The shortest timeout that a busy machine does not reach before the cancel.
        for timeout in [Duration.milliseconds(500), .seconds(3), .seconds(20)] {
            if try await cancelledInTime(timeout) { return }
        }
        Issue.record("the timeout came before the cancel each time")
    }

    /// False where the machine was too slow to cancel before the timeout.
    private func cancelledInTime(_ timeout: Duration) async throws -> Bool {
        let server = try LoopbackServer()
        defer { server.stop() }
        let gate = server.hold(.get, "/held")
        server.on(.get, "/slow", .status(204).delayed(by: timeout + .milliseconds(100)))
        let transport = URLSessionTransport()
        defer { transport.shutdown() }
        let log = RecordingObserver()
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.timeout = timeout
            $0.observers = [log]
        }
        let ends = LockBox<[BatonError.Code?]>([])
        let run = client.start(Call("/held", as: EmptyResponse.self), on: DispatchQueue.global()) { result in
            let code: BatonError.Code? = if case .failure(let error) = result { error.code } else { nil }
            ends.withLock { $0.append(code) }
        }
        await server.waitForRequests(1)
        run.cancel()
        await #expect(throws: BatonError.self) { try await run.value }
        // A request that takes longer than the other's timeout, in place of a sleep.
        _ = try await client.run(Call("/slow", as: EmptyResponse.self) { $0.options.timeout = .seconds(60) })
        gate.release()
        let codes = ends.withLock { $0 }
        #expect(codes.count == 1)
        guard codes == [.cancelled] else { return false }
        #expect(log.story.filter { $0.contains("/held") } == ["attempt 1 /held", "attempt 1 /held: cancelled"])
        #expect(log.story.filter { $0.hasPrefix("run ended") } == ["run ended: cancelled", "run ended"])
        return true
    }
}
