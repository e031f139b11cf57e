internal import Baton
internal import Foundation

/// What a check has to work with: a transport, a server, and a list of what went wrong.
struct ContractBench: Sendable {
    let transport: any Transport
    let server: any ContractServer
    let allowances: Set<TransportContract.Allowance>
    let sizes: TransportContract.Sizes
    /// Makes another transport, with a server.
    let makeBench: @Sendable () throws -> (any Transport, any ContractServer)
    private let problems = LockBox<[String]>([])

    init(
        transport: any Transport, server: any ContractServer, allowances: Set<TransportContract.Allowance>,
        sizes: TransportContract.Sizes, makeBench: @escaping @Sendable () throws -> (any Transport, any ContractServer)
    ) {
        self.transport = transport
        self.server = server
        self.allowances = allowances
        self.sizes = sizes
        self.makeBench = makeBench
    }

    // MARK: Judging

    /// Notes `problem` unless the condition holds.
    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { report(problem()) }
    }

    func report(_ problem: String) {
        problems.withLock { if $0.count < 10 { $0.append(problem) } }
    }

    /// Notes unless the exchange ended well and once.
    func expectWhole(_ record: ExchangeRecorder.Record, _ what: String) {
        if let error = record.error { report("\(what) failed: \(error.code)") }
        expectOneEnd(record, what)
    }

    /// Notes unless the end came once and nothing after it.
    func expectOneEnd(_ record: ExchangeRecorder.Record, _ what: String) {
        expect(record.ends == 1, "\(what) ended \(record.ends) times")
        expect(record.misplaced == 0, "\(what) was told \(record.misplaced) events out of order or after its end")
    }

    /// Notes unless the exchange failed with the code, once.
    func expectFailure(_ record: ExchangeRecorder.Record, _ codes: BatonError.Code..., of what: String) {
        let names = codes.map(\.rawValue).joined(separator: " or ")
        if let error = record.error {
            expect(codes.contains(error.code), "\(what) failed with \(error.code), not with \(names)")
        } else {
            report("\(what) did not fail with \(names)")
        }
        expectOneEnd(record, what)
    }

    // MARK: Sending

    func reply(_ response: HTTPResponse, to method: HTTPMethod = .get, _ path: String) {
        server.reply(.response(response), to: method, path)
    }

    func exchange(
        _ method: HTTPMethod = .get, _ target: String, fields: HTTPFields = [:], body: HTTPBody = .none
    ) async throws -> ExchangeRecorder.Record {
        try await transport.exchange(method, server.baseURL + target, fields: fields, body: body)
    }

    func start(
        _ method: HTTPMethod = .get, _ target: String, fields: HTTPFields = [:], body: HTTPBody = .none,
        recorder: ExchangeRecorder = ExchangeRecorder()
    ) throws -> (ExchangeRecorder, any Transmission) {
        try transport.start(method, server.baseURL + target, fields: fields, body: body, recorder: recorder)
    }

    // MARK: Performing

    /// Performs a check within its time, and returns what went wrong.
    func perform(_ check: ContractCheck) async -> [String] {
        let scheduler = LiveScheduler.shared
        let task = Task {
            do {
                try await check.body(self)
            } catch is CancellationError {
            } catch {
                report("it could not be carried through: \(error)")
            }
        }
        let alarm = Alarm(task)
        let timer = scheduler.schedule(alarm, Signal(kind: 0), at: scheduler.now.advanced(by: sizes.limit))
        await task.value
        scheduler.cancel(timer)
        let problems = problems.withLock { $0 }
        return alarm.hasRung ? ["it was not over after \(sizes.limit)"] + problems : problems
    }

    /// Cancels a check whose time is over; all of its waits end then.
    private final class Alarm: Job {
        private let task: Task<Void, Never>
        private let rung = LockBox(false)

        init(_ task: Task<Void, Never>) {
            self.task = task
        }

        var hasRung: Bool { rung.withLock { $0 } }

        func run(_ signal: Signal) {
            rung.withLock { $0 = true }
            task.cancel()
        }
    }
}

extension HTTPResponse {
    /// A response with a text, for checks.
    static func text(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: Data(text.utf8))
    }
}
