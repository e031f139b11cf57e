/// A set of ASCII characters, for deciding byte by byte what may stand literally in a place.
///
/// Each set has the letters, the digits and what its comment names, a bit for each character. They are written as they
/// come out, so that they are there without being made: every message asks for them.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// What means itself everywhere in a URL (RFC 3986, 2.3): ``-._~``.
    static let unreserved = ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    /// What may stand literally in a path (RFC 3986, 3.3), escapes apart: ``-._~!$&'()*+,;=:@/``.
    static let path = ByteSet(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    /// What may stand literally in a query (RFC 3986, 3.4), escapes apart: ``-._~!$&'()*+,;=:@/?``.
    static let query = ByteSet(low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    /// What a token is made of (RFC 9110, 5.6.2): ``!#$%&'*+-.^_`|~``.
    static let token = ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        byte < 128 && ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 == 1
    }

    /// Whether all bytes of a text are in the set.
    func containsAll(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(containsAll) ?? text.utf8.allSatisfy(contains)
    }

    @inline(__always)
    func containsAll(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in bytes where !contains(byte) { return false }
        return true
    }
}
