/// The transport of clients that were given none.
enum DefaultTransport {
    static func make() -> any Transport {
        BufferedTransport { _ in throw BatonError(.unsupported, "no transport") }
    }
}
