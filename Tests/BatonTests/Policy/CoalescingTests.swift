import Baton
import Foundation
import Testing

@Suite("Coalescing")
struct CoalescingTests {
    private func key(_ request: HTTPRequest, _ coalescing: Coalescing = Coalescing()) -> CoalescingKey? {
        coalescing.key(of: request)
    }

    @Test("Requests that differ in anything that matters have different keys")
    func different() throws {
        let requests = [
            makeRequest(), makeRequest(.head), makeRequest(.options), makeRequest(.get, "http://example.com/orders"),
            makeRequest(.get, "https://example.org/orders"), makeRequest(.get, "https://example.com/orders?page=2"),
            makeRequest(.get, "https://example.com/Orders"), makeRequest(fields: ["Accept": "text/plain"]),
            makeRequest(fields: ["Accept": "text/html"]), makeRequest(fields: ["Accept-Language": "de"]),
            makeRequest(fields: ["Authorization": "Bearer a"]), makeRequest(fields: ["Authorization": "Bearer b"]),
            makeRequest(fields: ["Range": "bytes=0-9"]), makeRequest(fields: ["Cookie": "a=1"]),
            makeRequest(fields: ["Accept": "text/plain", "X": "1"]), makeRequest(body: .data(Data())),
            makeRequest(body: .data(Data([1]))), makeRequest(body: .data(Data([2]))),
            makeRequest(fields: ["Via": "a", "Via": "b"]), makeRequest(fields: ["Via": "b", "Via": "a"]),
        ]
        let keys = try requests.map { try #require(key($0)) }
        #expect(Set(keys).count == requests.count)
    }

    @Test("The order and the case of field names, and what only traces a request, make no difference")
    func same() throws {
        let one = makeRequest(fields: ["Accept": "a", "X-Mode": "b", "Via": "1", "Via": "2", "traceparent": "00-1"])
        let two = makeRequest(fields: ["via": "1", "X-Request-ID": "7", "x-mode": "b", "VIA": "2", "accept": "a"])
        #expect(try #require(key(one)) == #require(key(two)))
        #expect(try #require(key(one)).hashValue == #require(key(two)).hashValue)
    }

    @Test("Fields that are named as ignored may differ, and only those")
    func ignored() {
        let coalescing = Coalescing(ignoring: ["X-Screen"])
        #expect(
            key(makeRequest(fields: ["X-Screen": "1"]), coalescing)
                == key(makeRequest(fields: ["x-screen": "2"]), coalescing))
        #expect(
            key(makeRequest(fields: ["X-Request-ID": "1"]), coalescing)
                != key(makeRequest(fields: ["X-Request-ID": "2"]), coalescing))
    }

    @Test("Requests of different identities share nothing")
    func identity() {
        let ada = Coalescing(identity: { _ in "ada" })
        let bob = Coalescing(identity: { _ in "bob" })
        #expect(key(makeRequest(), ada) == key(makeRequest(), ada))
        #expect(key(makeRequest(), ada) != key(makeRequest(), bob))
    }

    @Test("Only safe methods share", arguments: [HTTPMethod.post, .put, .patch, .delete, .connect, "PURGE"])
    func unsafe(method: HTTPMethod) {
        #expect(key(makeRequest(method)) == nil)
    }

    @Test("A body that is not known yet, or that is read as it is sent, is not shared")
    func bodies() {
        #expect(key(makeRequest(body: .json(["a": 1]))) == nil)
        #expect(key(makeRequest(body: HTTPBody(content: .stream(.data(Data([1])))))) == nil)
    }

    @Test("What is equal has equal hashes, and what is not is told apart", arguments: 1...10 as ClosedRange<UInt64>)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func make() -> (HTTPRequest, String) {
            let names: [HTTPFieldName] = ["Accept", "Via", "Range"]
            let path = random.below(2)
            var lines = (0..<random.below(3)).map { _ in
                HTTPFields.Line(name: names[random.below(3)], value: "\(random.below(2))")
            }
            let canonical = names.map { name in lines.filter { $0.name == name }.map(\.value).joined(separator: ",") }
            // A stable reordering by name, which is one that must not matter.
            if random.chance(50) {
                lines = names.reversed().flatMap { name in lines.filter { $0.name == name } }
            }
            return (
                makeRequest(.get, "https://example.com/\(path)", fields: HTTPFields(lines)),
                "\(path) \(canonical)"
            )
        }
        for _ in 0..<Scale.count(2_000, everyday: 300) {
            let (one, first) = make()
            let (two, second) = make()
            #expect((key(one) == key(two)) == (first == second))
            if first == second { #expect(key(one).hashValue == key(two).hashValue) }
        }
    }
}
