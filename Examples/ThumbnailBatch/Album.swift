import Baton
import BatonTesting
import Foundation

/// The server, in this process. Each fiftieth thumbnail breaks off in the middle, unless only the rest of it is asked for.
final class Album: Sendable {
    private let server: LoopbackServer
    var baseURL: String { server.baseURL }

    init() throws {
        server = try LoopbackServer(recording: .count)
        server.on(.get, "/thumbnails/*") { request in
            let number = Int(request.path.dropFirst("/thumbnails/".count)) ?? 0
            let picture = Data(repeating: UInt8(number % 251), count: 2_000)
            // The tag names what the thumbnail is now; the rest is of use only to who has the beginning of the same.
            var fields: HTTPFields = [.etag: "\"\(number)\""]
            if let start = Self.start(request.fields), start < picture.count, request.fields[.ifRange] == fields[.etag]
            {
                fields[.contentRange] = "bytes \(start)-\(picture.count - 1)/\(picture.count)"
                return .data(picture.dropFirst(start), status: 206, fields: fields)
            }
            let whole = LoopbackServer.Reply.data(picture, fields: fields).delayed(by: .milliseconds(10))
            return number % 50 == 0 ? whole.broken(.close, at: .midBody) : whole
        }
    }

    func stop() { server.stop() }

    /// Where `Range: bytes=1000-` begins.
    private static func start(_ fields: HTTPFields) -> Int? {
        fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }
}
