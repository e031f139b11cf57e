extension LoopbackServer {
    /// How much a server has done so far.
    public struct Activity: Sendable, Hashable {
        /// Requests that were received completely.
        public internal(set) var requests = 0
        /// Connections that were accepted in all.
        public internal(set) var connections = 0
        /// Connections that are open now.
        public internal(set) var openConnections = 0
        /// Bytes that were received, heads included.
        public internal(set) var bytesReceived: Int64 = 0
        /// Bytes that were handed to the system to send, heads included.
        public internal(set) var bytesSent: Int64 = 0
    }
}
