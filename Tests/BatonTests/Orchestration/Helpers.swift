import Baton
import Testing

extension ScriptedTransport {
    /// The numbers that were asked for, in order.
    var numbers: [Int] { sent.compactMap(\.number) }

    /// Item 404 and those from 500 to 599 fail with their number as the status; the others are there after `delay`.
    static func shop(after delay: Duration = .zero) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let number = request.number ?? 0
            let isBad = number == 404 || (500..<600).contains(number)
            return .reply(isBad ? .status(number) : .item(for: request), after: delay)
        }
    }
}

/// One page of a list.
struct Page: Codable, Response, Equatable {
    let items: [Int]
    var next: Int?
}

struct GetPage: Request {
    typealias Output = Page
    let n: Int
    var path: String { "/pages/\(n)" }
}

extension Run {
    /// How it ended.
    var outcome: Result<Output, BatonError> {
        get async {
            do throws(BatonError) {
                return .success(try await value)
            } catch {
                return .failure(error)
            }
        }
    }
}

extension RequestOptions {
    static func with(_ change: (inout RequestOptions) -> Void) -> RequestOptions {
        var options = RequestOptions()
        change(&options)
        return options
    }
}

extension HTTPResponse {
    /// A refusal that asks to wait.
    static func busy(_ status: Int, retryAfter: String) -> HTTPResponse {
        HTTPResponse(status: status, fields: [.retryAfter: retryAfter])
    }
}

/// A collection of plans that are made each time they are read.
struct LazyPlans: RandomAccessCollection, Sendable {
    let count: Int
    var built = Record<Int>()

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(index: Int) -> GetItem {
        built.add(index)
        return GetItem(n: index)
    }
}

/// The plan, or whatever it is, fails with that code.
func fails<Value: Sendable>(
    _ code: BatonError.Code, isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async throws {
    let error = try await failure(sourceLocation: sourceLocation, body)
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
}

/// For expressions that throw and wait, which `#expect` does not take within a closure.
func check(_ isTrue: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isTrue, sourceLocation: sourceLocation)
}
