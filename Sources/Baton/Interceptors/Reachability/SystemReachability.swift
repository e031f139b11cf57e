#if canImport(Network)
    internal import Dispatch
    internal import Network

    /// The network as the system sees it. A path that is there may still lead nowhere.
    public final class SystemReachability: Reachability {
        private let monitor = NWPathMonitor()
        // Until the first news it is taken to be there, so that nothing waits without a reason.
        private let network = ManualReachability()

        public init() {
            monitor.pathUpdateHandler = { [network] path in network.set(isReachable: path.status == .satisfied) }
            monitor.start(queue: DispatchQueue(label: "baton.reachability"))
        }

        deinit { monitor.cancel() }

        public var isReachable: Bool { network.isReachable }
        public func waitUntilReachable() async throws { try await network.waitUntilReachable() }
    }
#endif
