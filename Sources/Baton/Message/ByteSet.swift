/// A set of ASCII characters, for deciding byte by byte what may stand literally in a place.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Letters and digits, and those characters.
    private init(alphanumericsAnd others: String) {
        for byte in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + others).utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }
    }

    /// What means itself everywhere in a URL (RFC 3986, 2.3).
    static let unreserved = ByteSet(alphanumericsAnd: "-._~")
    /// What may stand literally in a path (RFC 3986, 3.3), escapes apart.
    static let path = ByteSet(alphanumericsAnd: "-._~!$&'()*+,;=:@/")
    /// What may stand literally in a query (RFC 3986, 3.4), escapes apart.
    static let query = ByteSet(alphanumericsAnd: "-._~!$&'()*+,;=:@/?")

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        byte < 128 && ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 == 1
    }

    /// Whether all bytes of a text are in the set.
    func containsAll(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(containsAll) ?? text.utf8.allSatisfy(contains)
    }

    func containsAll(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in bytes where !contains(byte) { return false }
        return true
    }
}
