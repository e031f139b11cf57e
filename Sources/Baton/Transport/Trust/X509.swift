internal import Foundation

/// What is read out of a certificate (RFC 5280, 4.1).
enum X509 {
    /// The SubjectPublicKeyInfo of a certificate, its head included, as it stands there; nil where the certificate is
    /// not built as one. What follows the key within it is not looked at.
    static func publicKeyInfo(of certificate: Data) -> Data? {
        var outer = DERReader(Array(certificate)[...])
        guard let whole = outer.read(.sequence), outer.isAtEnd else { return nil }
        var parts = DERReader(whole.content)
        guard let signed = parts.read(.sequence), parts.read(.sequence) != nil, parts.read(.bitString) != nil,
            parts.isAtEnd
        else { return nil }
        var fields = DERReader(signed.content)
        // The version may be missing.
        _ = fields.read(.version)
        guard fields.read(.integer) != nil else { return nil }
        // The algorithm of the signature, the issuer, the time, the subject.
        for _ in 1...4 {
            guard fields.read(.sequence) != nil else { return nil }
        }
        guard let key = fields.read(.sequence) else { return nil }
        var inside = DERReader(key.content)
        guard inside.read(.sequence) != nil, inside.read(.bitString) != nil, inside.isAtEnd else { return nil }
        return Data(key.whole)
    }
}

/// Reads bytes in DER, one element after the other; lengths are definite and as short as they can be written.
struct DERReader {
    /// The first byte of an element: what it is.
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case sequence = 0x30
        case version = 0xA0
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next element, without and with its head; nil, and nothing is taken, where it is not what is asked for or does
    /// not end within the bytes.
    mutating func read(_ tag: Tag) -> (content: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)? {
        var tail = rest
        guard tail.popFirst() == tag.rawValue, let first = tail.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            // The number of bytes that follow; three make 16 MB, and none is the form without a length.
            let count = Int(first & 0x7F)
            guard (1...3).contains(count), tail.count >= count, tail.first != 0 else { return nil }
            length = tail.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            tail = tail.dropFirst(count)
        }
        guard tail.count >= length else { return nil }
        let content = tail.prefix(length)
        let whole = rest[rest.startIndex..<content.endIndex]
        rest = rest[content.endIndex...]
        return (content, whole)
    }
}
