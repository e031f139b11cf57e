public import Foundation

/// A stored response, with what it takes to judge it.
public struct CacheEntry: Sendable {
    /// The response; for a URL with variants, the entry that lists the fields that tell them apart has none.
    public var response: HTTPResponse?
    /// When it was stored or last confirmed, by the wall clock.
    public var stored: Date
    /// The version of the data that the app asked for.
    public var version: Int
    /// The version of the app that stored it; empty when it was not said.
    public var appVersion: String
    /// The fields that tell variants of the response apart, in small letters.
    public var vary: [String]

    /// A response as it is kept, and when it was stored.
    public init(
        response: HTTPResponse?, stored: Date, version: Int = 0, appVersion: String = "", vary: [String] = []
    ) {
        self.response = response
        self.stored = stored
        self.version = version
        self.appVersion = appVersion
        self.vary = vary
    }

    /// About how many bytes it takes.
    public var size: Int {
        let fields = (response?.fields ?? [:]).reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        return (response?.body.count ?? 0) + fields + 200
    }
}

/// The bytes of an entry in a file: a mark, a checksum of the rest, the length of the head, the head as JSON, the body.
extension CacheEntry {
    private struct Head: Codable {
        var key: Data
        var stored: Double
        var version: Int
        var appVersion: String
        var vary: [String]
        var status: Int?
        var fields: [[String]]
    }

    private static let mark = Data("BATON1".utf8)

    func encoded(for key: CacheKey) throws -> Data {
        let head = Head(
            key: key.bytes, stored: stored.timeIntervalSince1970, version: version, appVersion: appVersion, vary: vary,
            status: response?.status, fields: (response?.fields ?? [:]).map { [$0.name.rawName, $0.value] })
        let json = try JSONEncoder().encode(head)
        var content = Data()
        withUnsafeBytes(of: UInt64(json.count).littleEndian) { content.append(contentsOf: $0) }
        content += json
        content += response?.body ?? Data()
        var file = Self.mark
        withUnsafeBytes(of: CacheHash.hash(content).littleEndian) { file.append(contentsOf: $0) }
        return file + content
    }

    /// Nil for bytes that are damaged or belong to another key.
    init?(_ file: Data, for key: CacheKey) {
        guard file.starts(with: Self.mark), let sum = Self.number(file, at: 6), let length = Self.number(file, at: 14),
            length <= UInt64(file.count), CacheHash.hash(file.dropFirst(14)) == sum,
            case let rest = file.dropFirst(22), UInt64(rest.count) >= length,
            let head = try? JSONDecoder().decode(Head.self, from: Data(rest.prefix(Int(length)))), head.key == key.bytes
        else { return nil }
        var response: HTTPResponse?
        if let status = head.status {
            let fields = head.fields.filter { $0.count == 2 }.map {
                HTTPFields.Line(name: HTTPFieldName($0[0]), value: $0[1])
            }
            response = HTTPResponse(
                status: status, fields: HTTPFields(fields), body: Data(rest.dropFirst(Int(length))))
        }
        self.init(
            response: response, stored: Date(timeIntervalSince1970: head.stored), version: head.version,
            appVersion: head.appVersion, vary: head.vary)
    }

    private static func number(_ data: Data, at offset: Int) -> UInt64? {
        guard data.count >= offset + 8 else { return nil }
        return data.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
