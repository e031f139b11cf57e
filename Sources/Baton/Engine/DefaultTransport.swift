/// The transport of clients that were given none.
enum DefaultTransport {
    /// A new one: curl on Linux where libcurl can be opened, URLSession everywhere else.
    static func make() -> any Transport {
        #if os(Linux)
            do throws(BatonError) {
                return try CurlTransport()
            } catch {
                warnOnce("libcurl cannot be used (\(error.message)), so URLSession carries the requests")
            }
        #endif
        return URLSessionTransport()
    }

    private static let hasWarned = LockBox(false)

    private static func warnOnce(_ text: String) {
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        if isFirst { StandardErrorNotice.write(text) }
    }
}
