import Foundation
import Testing

@testable import Baton

@Suite("A transport of one closure") struct BufferedTransportTests {
    private struct Broken: Error {}

    private func client(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> Client {
        Client(baseURL: "http://h", transport: BufferedTransport(respond), retry: .none)
    }

    @Test("What the closure returns is the response, and it sees the request as it is sent")
    func answers() async throws {
        let client = client { request in
            HTTPResponse(
                status: 201, body: Data("\(request.method) \(request.target)".utf8) + (request.body.bytes ?? Data()))
        }
        let response = try await client.run(
            Call<HTTPResponse>("/a", method: .put) {
                $0.query = ["b": 1]
                $0.body = .text(", hello")
            })
        #expect(response.status == 201)
        #expect(String(decoding: response.body, as: UTF8.self) == "PUT /a?b=1, hello")
    }

    @Test("An error of the closure is the request's, and one that is not the library's is told as its cause")
    func errors() async throws {
        let own = try await failure { try await client { _ in throw BatonError(.connectionLost) }.run(GetItem(n: 1)) }
        #expect(own.code == .connectionLost)
        let other = try await failure { try await client { _ in throw Broken() }.run(GetItem(n: 1)) }
        #expect(other.code == .transportFailed)
        #expect(other.underlying is Broken)
    }

    @Test("The closure's task is cancelled with its request")
    func cancelled() async throws {
        let (begun, ended) = (Gate(), Gate())
        // It ends only with the task that reads it.
        let silence = AsyncStream<Never>.makeStream()
        let client = client { _ in
            begun.open()
            for await _ in silence.stream {}
            if Task.isCancelled { ended.open() }
            return HTTPResponse(status: 204)
        }
        let run = client.start(GetItem(n: 1))
        #expect(await begun.opens())
        run.cancel()
        #expect(await ended.opens())
        #expect(try await failure { try await run.value }.code == .cancelled)
    }

    #if os(Linux)
        @Test("A client without a transport of its own sends over curl on Linux")
        func standard() async throws {
            let client = Client { $0.maxConcurrency = 2 }
            #expect(client.configuration.transport == nil)
            #expect(DefaultTransport.make() is CurlTransport)
        }
    #endif
}
