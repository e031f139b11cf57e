/// The interceptors of a client, or those that one request chose, as calls use them.
final class InterceptorStack: Sendable {
    let call: [any Interceptor]
    /// Those that stand around each attempt; all of them adapters, or run as tasks.
    let attempt: [any Interceptor]
    let adapters: [any RequestAdapter]?
    var isEmpty: Bool { attempt.isEmpty && call.isEmpty }

    init(_ interceptors: [any Interceptor]) {
        call = interceptors.filter { $0.placement == .call }
        attempt = interceptors.filter { $0.placement == .attempt }
        let adapters = attempt.compactMap { $0 as? any RequestAdapter }
        self.adapters = adapters.count == attempt.count ? adapters : nil
    }
}

/// Makes clients for the interceptors of a run; it does not hold the run.
final class ClientSource: RunnerSource {
    private let engine: Engine
    private let configuration: Client.Configuration

    init(_ engine: Engine, _ settings: Settings) {
        self.engine = engine
        configuration = settings.configuration
    }

    func runner(without id: InterceptorID?) -> any Runner {
        var configuration = configuration
        if let id { configuration.interceptors.removeAll { $0.id == id } }
        return Client(configuration: configuration, engine: engine)
    }
}
