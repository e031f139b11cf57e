/// The interceptors of a client, or those that one request chose, as calls use them.
final class InterceptorStack: Sendable {
    /// An interceptor under its name, which is asked for once.
    struct Layer {
        let interceptor: any Interceptor
        let id: InterceptorID
    }

    let call: [Layer]
    /// Those that stand around each attempt; all of them adapters, or run as tasks.
    let attempt: [Layer]
    let adapters: [any RequestAdapter]?

    init(_ interceptors: [any Interceptor]) {
        func layers(_ placement: InterceptorPlacement) -> [Layer] {
            interceptors.filter { $0.placement == placement }.map { Layer(interceptor: $0, id: $0.id) }
        }
        call = layers(.call)
        attempt = layers(.attempt)
        let adapters = attempt.compactMap { $0.interceptor as? any RequestAdapter }
        self.adapters = adapters.count == attempt.count ? adapters : nil
    }
}

/// Makes clients for the interceptors of a run; it does not hold the run.
final class ClientSource: RunnerSource {
    private let engine: Engine
    private let settings: Settings

    init(_ engine: Engine, _ settings: Settings) {
        self.engine = engine
        self.settings = settings
    }

    func runner(without id: InterceptorID?) -> any Runner {
        var configuration = settings.configuration
        if let id { configuration.interceptors.removeAll { $0.id == id } }
        return Client(configuration: configuration, engine: engine)
    }
}
