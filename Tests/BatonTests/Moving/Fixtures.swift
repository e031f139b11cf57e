import Baton
import BatonTesting
import Foundation

/// A folder of a test's own, which goes with it.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The names in it, hidden ones too.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// Waits until it holds exactly these; for what is put away after a cancel, which nobody waits for.
    func settles(_ names: [String]) async -> Bool {
        let limit = ContinuousClock.now + .seconds(60)
        while self.names != names {
            if ContinuousClock.now > limit { return false }
            await Task.yield()
        }
        return true
    }
}

/// A resource that is downloaded: 5,000 bytes, or as many as are wanted.
struct Resource: Sendable {
    var bytes = LoopbackServer.pattern(0..<5_000)
    var tag: String? = "\"one\""

    var fields: HTTPFields {
        var fields: HTTPFields = ["Content-Length": "\(bytes.count)"]
        fields[.etag] = tag
        return fields
    }

    /// The first so many bytes, in pieces.
    func pieces(_ count: Int) -> [Data] { [bytes.prefix(count / 2), bytes.prefix(count).dropFirst(count / 2)] }

    /// What a server answers that knows ranges.
    func answer(_ fields: HTTPFields) -> HTTPResponse {
        guard let range = fields[.range], fields[.ifRange] == nil || fields[.ifRange] == tag,
            let start = Int(range.dropFirst("bytes=".count).dropLast())
        else { return HTTPResponse(status: 200, fields: self.fields, body: bytes) }
        guard start < bytes.count else {
            return HTTPResponse(status: 416, fields: ["Content-Range": "bytes */\(bytes.count)"])
        }
        var head: HTTPFields = ["Content-Range": "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"]
        head[.etag] = tag
        return HTTPResponse(status: 206, fields: head, body: bytes.dropFirst(start))
    }
}

struct GetFile: Request {
    typealias Output = Data
    var path = "/file"
    var options = RequestOptions()
}

extension RetryPolicy {
    /// Other attempts at once.
    static var quick: RetryPolicy { RetryPolicy(attempts: 3, backoff: .constant(.milliseconds(10))) }
}

extension LoopbackServer.Reply {
    /// What a server answers that knows ranges; the reply to a request without one may break off.
    static func ranged(_ fields: HTTPFields, length: Int64, breaksAt: Int? = nil) -> Self {
        let tag: HTTPFields = ["ETag": "\"t\""]
        guard let range = fields[.range], let start = Int64(range.dropFirst(6).dropLast()) else {
            let reply = Self.pattern(length: length, fields: tag)
            return breaksAt.map { reply.broken(.close, at: .bodyByte($0)) } ?? reply
        }
        return .generated(
            length: length - start, status: 206,
            fields: ["ETag": "\"t\"", "Content-Range": "bytes \(start)-\(length - 1)/\(length)"]
        ) { offset, count in
            LoopbackServer.pattern((start + offset)..<(start + offset + Int64(count)))
        }
    }
}
