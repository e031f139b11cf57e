extension LoopbackServer {
    /// What a route does with the bodies of its requests.
    public enum BodyPolicy: Sendable {
        /// Keeps them in memory.
        case kept
        /// Reads them, keeps length and checksum, and throws the bytes away.
        case discarded
        /// Reads nothing until the gate is released, so that the client feels that nobody takes its bytes; then
        /// as `discarded`.
        case heldBack(Gate)
        /// Does not read them: the reply starts as soon as the head is in, and the connection closes after it. With
        /// a reply that breaks or stalls, an upload is cut off or blocked. A client that leaves a blocked upload may go
        /// unnoticed, since its end waits behind bytes that nobody reads.
        case unread

        var keepsBytes: Bool {
            if case .kept = self { true } else { false }
        }
    }

    /// What the server remembers of the requests that it receives.
    public enum Recording: Sendable, Hashable {
        /// Every request, in order.
        case all
        /// Their number only; for long runs and benchmarks.
        case count
    }
}
