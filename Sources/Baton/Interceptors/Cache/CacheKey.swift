package import Foundation

/// What a stored response answers: method, URL, body, who asks, and the fields that make a difference.
///
/// Keys are compared whole. The name of a key is a fast hash of it and only says where to look.
public struct CacheKey: Hashable, Sendable {
    /// The parts, each after its length, so that no two keys have the same bytes.
    package let bytes: Data

    package init(bytes: Data) { self.bytes = bytes }

    /// - Parameters:
    ///   - identity: who asks; nil for everybody.
    ///   - names: the fields that make a difference.
    /// - Returns: nil for a body that is not in memory.
    package init?(_ request: HTTPRequest, identity: String?, varyingBy names: [HTTPFieldName]) {
        guard request.body.isNone || request.body.bytes != nil else { return nil }
        var bytes = Data()
        Self.add(request.method.rawValue, to: &bytes)
        Self.add(request.urlString, to: &bytes)
        Self.add(identity ?? "", to: &bytes)
        for name in Self.sorted(names) {
            Self.add(name, to: &bytes)
            for line in request.fields.values(for: HTTPFieldName(name)) {
                // A credential tells users apart and is itself not kept.
                Self.add(Self.isSecret(name) ? CacheHash.name(of: Data(line.utf8)) : line, to: &bytes)
            }
            Self.add("", to: &bytes)
        }
        let body = request.body.bytes ?? Data()
        Self.add(length: body.count, to: &bytes)
        self.bytes = bytes + body
    }

    /// The URL that was asked for: what is forgotten together when something at that URL has changed.
    public var url: String {
        var rest = bytes[...]
        _ = Self.take(&rest)
        return Self.take(&rest) ?? ""
    }

    /// A name for a file: 32 hexadecimal digits, of which the first 16 are ``prefix(of:)`` its URL.
    public var name: String { Self.prefix(of: url) + CacheHash.name(of: bytes).suffix(16) }

    /// What the names of all keys of a URL begin with: 16 hexadecimal digits. Few other URLs have the same.
    public static func prefix(of url: String) -> String { String(CacheHash.name(of: Data(url.utf8)).prefix(16)) }

    /// The part that the bytes begin with; nil where there is none.
    private static func take(_ bytes: inout Data.SubSequence) -> String? {
        guard bytes.count >= 8 else { return nil }
        let length = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(8)
        guard length <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return String(decoding: bytes.prefix(Int(length)), as: UTF8.self)
    }

    private static func sorted(_ names: [HTTPFieldName]) -> [String] {
        Array(Set(names.map { $0.rawName.lowercased() })).sorted()
    }

    private static func isSecret(_ name: String) -> Bool { Redaction().isSecret(name) }

    private static func add(_ text: String, to bytes: inout Data) {
        add(length: text.utf8.count, to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private static func add(length: Int, to bytes: inout Data) {
        withUnsafeBytes(of: UInt64(length).littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// FNV-1a, twice with different beginnings: quick and well spread, and no protection against those who look for
/// collisions, so that whatever it finds is compared whole.
enum CacheHash {
    static func name(of bytes: Data) -> String {
        hex(hash(bytes, 0xcbf2_9ce4_8422_2325)) + hex(hash(bytes, 0x6c62_272e_07bb_0142))
    }

    static func hash(_ bytes: Data, _ start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        bytes.withUnsafeBytes { buffer in
            var hash = start
            for byte in buffer { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return hash ^ (hash >> 29)
        }
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
