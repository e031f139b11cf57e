import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Interceptors around requests")
struct InterceptorTests {
    @Test("Y11: an interceptor that always sends again ends at the attempt limit", arguments: [1, 3])
    func endless(attempts: Int) async throws {
        let again = ClosureInterceptor { request, _, next in
            while true { _ = try await next(request) }
        }
        let transport = ScriptedTransport()
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.interceptors = [again]
                $0.retry = RetryPolicy(attempts: attempts)
            }
        ) { client, _ in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .attemptsExhausted)
            #expect(error.message.contains("\(attempts)"))
            #expect(client.engine.queue.counts == (0, 0))
        }
        #expect(transport.sent.count == attempts)
    }

    @Test(
        "Y11: one that does not even heed the refusal is stopped at the second",
        arguments: [InterceptorPlacement.call, .attempt])
    func deaf(placement: InterceptorPlacement) async throws {
        let (rounds, left) = (Record<Bool>(), Gate())
        let again = ClosureInterceptor(placement: placement) { request, _, next in
            defer { left.open() }
            while !Task.isCancelled {
                let response = try? await next(request)
                rounds.add(response != nil)
            }
            throw CancellationError()
        }
        let client = Client(
            baseURL: "http://h", transport: QueueTransport(), retry: RetryPolicy(attempts: 3), interceptors: [again])
        let error = try await failure { try await client.run(GetItem(n: 1)) }
        #expect(error.code == .attemptsExhausted)
        #expect(await left.opens())
        #expect(rounds.all.prefix(4) == [true, true, true, false])
        #expect(client.engine.queue.counts == (0, 0))
    }

    @Test("T31: each attempt passes the attempt interceptors with the original request, the call passes its own once")
    func placements() async throws {
        let stamp = ClosureInterceptor { request, context, next in
            var request = request
            request.target = "/v2" + request.target
            request.fields.append("\(context.attempt)", for: "X-N")
            return try await next(request)
        }
        let (around, inside) = (CountingInterceptor(.call), CountingInterceptor(.attempt))
        let transport = ScriptedTransport { _, n in .reply(.status(n < 3 ? 500 : 200)) }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.interceptors = [around, inside, stamp]
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { client, clock in
            _ = try await client.run(Send(method: .put, body: .json(["a": 1])))
            #expect(clock.pendingTimers == 0)
        }
        #expect(transport.sent.map(\.target) == ["/v2/things", "/v2/things", "/v2/things"])
        #expect(transport.sent.map { $0.fields.values(for: "X-N") } == [["1"], ["2"], ["3"]])
        #expect(Set(transport.sent.map(\.body.bytes)).count == 1)
        #expect(around.seen.map(\.attempt) == [1])
        #expect(inside.seen.map(\.attempt) == [1, 2, 3])
        #expect(inside.paths == ["/things", "/things", "/things"])
    }

    @Test("The attempts of one request have one number, for interceptors of both kinds and for observers")
    func oneNumber() async throws {
        final class Numbers: Interceptor, EventObserver {
            let placement: InterceptorPlacement
            let seen = Record<UInt64>()
            init(_ placement: InterceptorPlacement) { self.placement = placement }
            func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
                seen.add(context.call)
                return try await next(request)
            }
            func observe(_ event: Event) {
                switch event {
                case .attemptStarted(let attempt), .attemptEnded(let attempt, _): seen.add(attempt.call)
                case .retryScheduled(let attempt, _, _): seen.add(attempt.call)
                default: break
                }
            }
        }
        let (around, inside, observer) = (Numbers(.call), Numbers(.attempt), Numbers(.call))
        let transport = ScriptedTransport { _, n in .reply(.status(n < 3 ? 500 : 200)) }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.interceptors = [around, inside]
                $0.observers = [observer]
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { client, _ in
            _ = try await client.run(Send(method: .put))
        }
        let seen = around.seen.all + inside.seen.all + observer.seen.all
        #expect(seen.count == 1 + 3 + 8)
        #expect(Set(seen).count == 1)
        #expect(!seen.contains(0))
    }

    @Test(
        "What a key or a body's type would inject is refused before anything is sent, whatever stands around the request",
        arguments: ["nothing", "adapter", "interceptor"])
    func injections(around: String) async throws {
        let interceptors: [any Interceptor] =
            switch around {
            case "adapter": [ClosureAdapter { _, _ in }]
            case "interceptor": [ClosureInterceptor { request, _, next in try await next(request) }]
            default: []
            }
        let transport = ScriptedTransport()
        try await withVirtualTime(transport: transport, configure: { $0.interceptors = interceptors }) { client, _ in
            let keyed = Send(options: .with { $0.idempotency = .keyed("a\r\nX-Evil: 1") })
            try await fails(.invalidRequest) { try await client.run(keyed) }
            let typed = Send(body: .data(Data(), contentType: "text/plain\nX-Evil: 1"))
            try await fails(.invalidRequest) { try await client.run(typed) }
        }
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "What an interceptor would inject is refused, where it changes a field as where it adds one",
        arguments: [true, false])
    func injected(isAdapter: Bool) async throws {
        for name in ["X-Own", "X-New"] as [HTTPFieldName] {
            let change: @Sendable (inout HTTPRequest) -> Void = { $0.fields[name] = "a\r\nX-Evil: 1" }
            let interceptor: any Interceptor =
                isAdapter
                ? ClosureAdapter { request, _ in change(&request) }
                : ClosureInterceptor { request, _, next in
                    var request = request
                    change(&request)
                    return try await next(request)
                }
            let transport = ScriptedTransport()
            try await withVirtualTime(transport: transport, configure: { $0.interceptors = [interceptor] }) {
                client, _ in
                try await fails(.invalidRequest) { try await client.run(Send(fields: ["X-Own": "1"])) }
            }
            #expect(transport.sent.isEmpty)
        }
    }

    @Test("No slot is held while an interceptor waits, before and after its request")
    func noSlot() async throws {
        let wait = ClosureInterceptor { request, context, next in
            if request.number == 1 { try await context.sleep(for: .seconds(100)) }
            let response = try await next(request)
            if request.number == 1 { try await context.sleep(for: .seconds(100)) }
            return response
        }
        try await withVirtualTime(
            transport: ScriptedTransport(),
            configure: {
                $0.interceptors = [wait]
                $0.maxConcurrency = 1
            }
        ) { client, clock in
            let first = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(1))
            _ = try await client.run(GetItem(n: 2))
            #expect(clock.elapsed == .seconds(1))
            _ = try await first.value
            #expect(clock.elapsed == .seconds(200))
        }
    }

    @Test("A cancel reaches an interceptor that waits, and one whose request is in flight", arguments: [1, 150])
    func cancel(second: Int) async throws {
        let stopped = Record<Bool>()
        let wait = ClosureInterceptor { request, context, next in
            do {
                try await context.sleep(for: .seconds(100))
                return try await next(request)
            } catch {
                stopped.add((error as? BatonError)?.isCancelled == true)
                throw error
            }
        }
        let transport = ScriptedTransport { _, _ in .silence }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.interceptors = [wait]
                $0.timeout = .seconds(1_000)
            }
        ) { client, clock in
            let counted = client.counting(GetItem(n: 1))
            try await clock.sleep(for: .seconds(second))
            counted.run.cancel()
            let error = try await failure { try await counted.run.value }
            #expect(error.isCancelled)
            #expect(clock.elapsed == .seconds(second))
            await clock.run()
            #expect(counted.completions.count == 1)
            #expect(clock.pendingTimers == 0)
            #expect(client.engine.queue.counts == (0, 0))
        }
        #expect(stopped.all == [true])
        #expect(transport.sent.count == (second == 1 ? 0 : 1))
    }

    @Test("An interceptor may answer without sending, and what it throws is the outcome")
    func shortcuts() async throws {
        struct Broken: Error {}
        let shortcut = ClosureInterceptor { request, _, next in
            switch request.number {
            case 1: return .item(100)
            case 2: throw Broken()
            case 3: throw BatonError(.unsupported, "said the test")
            default: return try await next(request)
            }
        }
        let client = Client(
            baseURL: "http://h", transport: InlineTransport(), retry: .none, interceptors: [shortcut])
        let report = try await client.run(Batch((0..<4).map(GetItem.init)))
        #expect(report.values.map { $0?.n } == [0, 100, nil, nil])
        #expect(report[2].error?.code == .interceptorFailed)
        #expect(report[2].error?.underlying is Broken)
        #expect(report[2].error?.phase == .intercept)
        #expect(report[3].error?.code == .unsupported)
    }

    @Test("A request that an interceptor spoils is refused before it is sent, naming the field")
    func spoiled() async throws {
        let transport = HeldTransport()
        let spoil = ClosureInterceptor { request, _, next in
            var request = request
            request.fields["X-Spoiled"] = "a\r\nb"
            return try await next(request)
        }
        let adapt = ClosureAdapter { request, _ in request.fields["X-Spoiled"] = "a\0b" }
        for interceptor in [spoil, adapt] as [any Interceptor] {
            let client = Client(baseURL: "http://h", transport: transport, interceptors: [interceptor])
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .invalidRequest)
            #expect(error.message.contains("X-Spoiled"))
            #expect(client.engine.queue.counts == (0, 0))
        }
        #expect(transport.sent.isEmpty)
    }
}
