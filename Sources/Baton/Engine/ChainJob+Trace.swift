/// What a chain notes about its requests for the run's trace.
extension ChainJob {
    func trace(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int) {
        let traced: (call: CallDescription, began: Instant, Registers?)? = state.withLock { state in
            defer { state.traced = nil }
            return state.traced.map { ($0.call, $0.began, state.isAside ? state.registers : nil) }
        }
        guard let (asked, began, registers) = traced, let start = run.traceStart else { return }
        run.note(
            RunTrace.Step(
                path: registers.map(path) ?? "", request: asked.request.summary, status: result.response?.status,
                code: result.error?.code, attempts: attempts, started: start.duration(to: began),
                duration: began.duration(to: scheduler.now),
                records: attempts > 1 ? call.records : [], queued: call.slotWait, metrics: result.metrics))
    }
}
