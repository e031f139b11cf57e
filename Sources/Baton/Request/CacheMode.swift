/// What a cache does with a request: whether it answers it, and in which order it and the network are asked.
public enum CacheMode: Sendable, Hashable {
    /// Neither answers nor keeps anything.
    case ignore
    /// Asks the network and keeps what it answers.
    case networkOnly
    /// Answers from the cache, or fails with `cacheMiss`.
    case cacheOnly
    /// Answers from the cache, or else from the network.
    case cacheElseNetwork
    /// Answers from the network; where that fails, from the cache, however old what it has is.
    case networkElseCache
    /// Answers twice where it can, from the cache and then from the network: for `Client.stream`, and refused elsewhere.
    case cacheThenNetwork
    /// Does what the server says, as RFC 9111 has it for a cache of one user: answers what is fresh, and has the server
    /// confirm what is not.
    case http
}
