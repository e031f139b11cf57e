/// A set of ASCII characters, for deciding byte by byte what may stand literally in a place.
struct ByteSet: Sendable {
    private var low: UInt64
    private var high: UInt64

    private init(low: UInt64 = 0, high: UInt64 = 0) { (self.low, self.high) = (low, high) }

    /// Letters and digits, and those characters.
    private init(alphanumericsAnd others: String) {
        self.init()
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

    /// What a token is made of (RFC 9110, 5.6.2): letters, digits and ``!#$%&'*+-.^_`|~``. Written as it comes out, so that
    /// it is there without being made: names are looked at with every message.
    static let token = ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)

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
