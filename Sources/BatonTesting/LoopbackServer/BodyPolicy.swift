extension LoopbackServer {
    /// What a route does with the bodies of its requests.
    public enum BodyPolicy: Sendable, Hashable {
        /// Keeps them in memory.
        case kept
        /// Reads them, keeps length and checksum, and throws the bytes away.
        case discarded
        /// Does not read them: the reply starts as soon as the head is in, and the connection closes after it.
        case unread
    }

    /// What the server remembers of the requests that it receives.
    public enum Recording: Sendable, Hashable {
        /// Every request, in order.
        case all
        /// Their number only; for long runs and benchmarks.
        case count
    }
}
