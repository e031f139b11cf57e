import Baton
import Testing

@Suite("Retries over a transport that answers at once")
struct InlineRetryTests {
    private final class FailingTransport: Transport {
        private let count = LockBox(0)

        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number % 100 == 0 {
                receiver.fail(BatonError(.connectionLost, "as planned"))
            } else {
                receiver.complete(HTTPResponse(status: 200))
            }
            return FinishedTransmission.shared
        }
    }

    @Test("Each hundredth exchange of a batch fails, and every item succeeds")
    func batch() async throws {
        let client = Client(baseURL: "http://h", transport: FailingTransport()) {
            $0.retry = RetryPolicy(attempts: 9, backoff: .none)
            $0.retryBudget = nil
        }
        let report = try await client.run(
            Batch((0..<5_000).map { _ in Call("/x", as: EmptyResponse.self) }, maxConcurrency: 64))
        #expect(report.failures.map(\.error.code) == [])
        #expect(report.counts.succeeded == 5_000)
    }
}
