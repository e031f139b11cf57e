import Baton
import BatonTesting
import Foundation
import Testing

/// Replies after a virtual delay; the script says how.
final class ScriptedTransport: ScheduledTransport {
    private let scheduler = LockBox<(any Scheduler)?>(nil)
    let script: @Sendable (HTTPRequest, Int) -> (Duration, Result<HTTPResponse, BatonError>)?
    let sends = LockBox<[String]>([])
    init(_ script: @escaping @Sendable (HTTPRequest, Int) -> (Duration, Result<HTTPResponse, BatonError>)?) {
        self.script = script
    }
    func attach(to scheduler: any Scheduler) { self.scheduler.withLock { $0 = scheduler } }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let path = String(request.path)
        let n = sends.withLock {
            $0.append(path); return $0.filter { $0 == path }.count
        }
        let scheduler = scheduler.withLock { $0! }
        guard let (delay, result) = script(request, n) else {
            return Reply(receiver, .failure(BatonError(.cancelled)), scheduler, nil)
        }
        return Reply(receiver, result, scheduler, delay)
    }
    final class Reply: Job, Transmission {
        let receiver: TransportReceiver
        let result: Result<HTTPResponse, BatonError>
        let scheduler: any Scheduler
        let timer = LockBox<TimerHandle?>(nil)
        init(
            _ receiver: TransportReceiver, _ result: Result<HTTPResponse, BatonError>, _ scheduler: any Scheduler,
            _ delay: Duration?
        ) {
            self.receiver = receiver; self.result = result; self.scheduler = scheduler
            if let delay {
                let h = scheduler.schedule(self, Signal(kind: 0), at: scheduler.now.advanced(by: delay));
                timer.withLock { $0 = h }
            }
        }
        func run(_ signal: Signal) {
            timer.withLock { $0 = nil }
            switch result {
            case .success(let r): receiver.complete(r);
            case .failure(let e): receiver.fail(e)
            }
        }
        func cancel() {
            if let h = timer.withLock({ t in
                defer { t = nil }; return t
            }) {
                scheduler.cancel(h)
            }
            receiver.fail(BatonError(.cancelled))
        }
    }
}

@Suite struct VirtualSmoke {
    @Test func retriesSkipTime() async throws {
        let transport = ScriptedTransport { _, n in
            (.seconds(1), .success(HTTPResponse(status: n < 3 ? 500 : 200, body: Data("{\"n\": 1}".utf8))))
        }
        try await withVirtualTime(
            transport: transport, seed: 1,
            configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(3600 * 24))) }
        ) { client, clock in
            _ = try await client.run(GetItem(n: 1))
            #expect(clock.elapsed == .seconds(2 * 86400 + 3))
            #expect(transport.sends.withLock { $0.count } == 3)
        }
    }
    @Test func timeout() async throws {
        let transport = ScriptedTransport { _, n in nil }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            await #expect(throws: BatonError.self) { try await client.run(GetItem(n: 1)) }
            #expect(clock.elapsed == .seconds(60))
        }
    }
    @Test func cancelWhileWaiting() async throws {
        let transport = ScriptedTransport { _, n in (.zero, .success(HTTPResponse(status: 500))) }
        try await withVirtualTime(
            transport: transport, time: .manual, configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(2))) }
        ) { client, clock in
            let run = client.start(GetItem(n: 1))
            await clock.advance(by: .seconds(1))
            run.cancel()
            await clock.settle()
            do throws(BatonError) { _ = try await run.value; Issue.record("no error") } catch {
                #expect(error.isCancelled)
            }
            #expect(clock.elapsed == .seconds(1))
            #expect(transport.sends.withLock { $0.count } == 1)
            #expect(clock.pendingTimers == 0)
        }
    }
    @Test func standstill() async throws {
        let transport = ScriptedTransport { _, n in nil }
        await #expect(throws: BatonError.self) {
            try await withVirtualTime(transport: transport, time: .manual) { client, clock in
                _ = try await client.run(GetItem(n: 1))
            }
        }
    }
    @Test func manySeeds() async throws {
        var seen: Set<UInt64> = []
        for seed in UInt64(0)..<200 {
            let transport = ScriptedTransport { r, n in
                (
                    .milliseconds(10),
                    .success(
                        HTTPResponse(
                            status: n == 1 && r.path.hasSuffix("3") ? 503 : 200,
                            body: Data("{\"n\": \(r.path.split(separator: "/").last!)}".utf8)))
                )
            }
            let order = try await withVirtualTime(transport: transport, seed: seed) { client, clock in
                let report = try await client.run(Batch((0..<10).map(GetItem.init), maxConcurrency: 3))
                #expect(report.successes.map(\.value.n) == Array(0..<10))
                #expect(clock.pendingTimers == 0)
                return clock.interleaving
            }
            seen.insert(order)
        }
        print("distinct", seen.count)
        #expect(seen.count > 50)
    }
    @Test func interceptors() async throws {
        struct Wait: Interceptor {
            func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
                try await context.sleep(for: .seconds(10))
                return try await next(request)
            }
        }
        let transport = ScriptedTransport { r, n in
            (.seconds(1), .success(HTTPResponse(status: 200, body: Data("{\"n\": 1}".utf8))))
        }
        try await withVirtualTime(transport: transport, configure: { $0.interceptors = [Wait()] }) { client, clock in
            _ = try await client.run(
                GetItem(n: 1).then { i in
                    try await clock.sleep(for: .seconds(5)); return GetItem(n: i.n)
                })
            #expect(clock.elapsed == .seconds(27))
        }
    }
}
