/// What a chain notes about its requests for the run's trace.
extension ChainJob {
    func trace(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int) {
        let traced: (call: CallDescription, began: Instant, Registers?)? = state.withLock { state in
            defer { state.traced = nil }
            return state.traced.map { ($0.call, $0.began, state.isAside ? state.registers : nil) }
        }
        guard let (asked, began, registers) = traced, let start = run.traceStart else { return }
        let code: BatonError.Code? = if case .failure(let error) = result { error.code } else { nil }
        run.note(
            RunTrace.Step(
                path: registers.map(path) ?? "", request: asked.request.summary, status: result.response?.status,
                code: code,
                attempts: attempts, started: start.duration(to: began), duration: began.duration(to: scheduler.now),
                records: attempts > 1 ? call.records : [], queued: call.slotWait, metrics: result.metrics))
    }
}

extension Result<HTTPResponse, BatonError> {
    /// What was measured, of a failure too; nil when nothing was.
    var metrics: TransportMetrics? {
        switch self {
        case .success(let response): response.metrics
        case .failure(let error): error.metrics
        }
    }

    /// The response, also one that was refused; nil when there was none.
    var answer: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }
}
