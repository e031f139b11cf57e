import Baton
import Foundation
import Testing

struct InlineTransport: Transport {
    let reply: @Sendable (HTTPRequest) -> HTTPResponse
    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        receiver.complete(reply(request))
        return FinishedTransmission.shared
    }
}

struct Item: Codable, Response, Equatable { let n: Int }
struct GetItem: Request {
    typealias Output = Item
    let n: Int
    var path: String { "/items/\(n)" }
}

@Suite struct SmokeTests {
    let client = Client(
        baseURL: "http://h",
        transport: InlineTransport { request in
            HTTPResponse(status: 200, body: Data("{\"n\": \(request.path.split(separator: "/").last!)}".utf8))
        })

    @Test func single() async throws {
        #expect(try await client.run(GetItem(n: 3)) == Item(n: 3))
    }
    @Test func chain() async throws {
        let value = try await client.run(
            GetItem(n: 3).then { GetItem(n: $0.n + 1) }.then { i in GetItem(n: i.n * 2) }.map { $0.n })
        #expect(value == 8)
    }
    @Test func batch() async throws {
        let report = try await client.run(Batch((0..<1000).map(GetItem.init), maxConcurrency: 4))
        #expect(report.count == 1000)
        #expect(report.successes.map(\.value.n) == Array(0..<1000))
    }
    @Test func longChain() async throws {
        var chain = Chain.value(0)
        for _ in 0..<100_000 { chain = chain.then { Chain.value($0 + 1) } }
        #expect(try await client.run(chain) == 100_000)
    }
    @Test func longRequestChain() async throws {
        var chain = GetItem(n: 0).chain
        for _ in 0..<10_000 { chain = chain.then { GetItem(n: $0.n + 1) } }
        #expect(try await client.run(chain).n == 10_000)
    }
    @Test func nested() async throws {
        @Sendable func nest(_ n: Int) -> Chain<Int> {
            n == 0 ? .value(0) : Chain.value(n).then { _ in nest(n - 1) }.map { $0 + 1 }
        }
        #expect(try await client.run(nest(10_000)) == 10_000)
    }
    @Test func lazyBatch() async throws {
        let report = try await client.run(Batch((0..<1000).lazy.map { GetItem(n: $0) }, maxConcurrency: 4))
        #expect(report.successes.map(\.value.n) == Array(0..<1000))
    }
}
