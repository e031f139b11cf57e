import Baton
import Foundation

/// What the fixtures' server has: things with a number.
struct Item: Codable, Response, Equatable {
    let n: Int
}

struct GetItem: Request {
    typealias Output = Item
    let n: Int
    var path: String { "/items/\(n)" }
}

/// A request of any method, whose output nobody looks at.
struct Send: Request {
    typealias Output = EmptyResponse
    var method = HTTPMethod.post
    var path = "/things"
    var fields = HTTPFields()
    var body = HTTPBody.none
    var options = RequestOptions()
}

extension HTTPRequest {
    /// The number at the end of the path; nil when there is none.
    var number: Int? { path.split(separator: "/").last.flatMap { Int($0) } }
}

extension HTTPResponse {
    /// The item that the request asks for.
    static func item(for request: HTTPRequest) -> HTTPResponse { item(request.number ?? 0) }

    static func item(_ n: Int) -> HTTPResponse {
        HTTPResponse(status: 200, body: Data("{\"n\": \(n)}".utf8))
    }

    static func status(_ status: Int, _ body: String = "") -> HTTPResponse {
        HTTPResponse(status: status, body: Data(body.utf8))
    }
}

extension HTTPBodyStream {
    /// Text that can be sent once.
    static func once(_ text: String) -> HTTPBodyStream {
        HTTPBodyStream(length: Int64(text.utf8.count), isReplayable: false) {
            try HTTPBodyStream.data(Data(text.utf8)).open()
        }
    }
}

/// A sequence of plans that are made as they are read.
struct Made<P: Plan>: Sequence, Sendable {
    let count: Int
    let make: @Sendable (Int) -> P

    init(_ count: Int, _ make: @escaping @Sendable (Int) -> P) {
        self.count = count
        self.make = make
    }

    func makeIterator() -> Iterator { Iterator(plans: self) }

    struct Iterator: IteratorProtocol {
        let plans: Made
        var index = 0

        mutating func next() -> P? {
            guard index < plans.count else { return nil }
            defer { index += 1 }
            return plans.make(index)
        }
    }
}
