import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("A client's configuration, for bodies that move", .timeLimit(.minutes(2)))
struct MovingConfigurationTests {
    /// How a body moves.
    enum Movement: CaseIterable {
        case download, stream, upload

        var method: HTTPMethod { self == .upload ? .put : .get }

        /// Moves it, and returns what came.
        func run(_ client: Client, path: String = "/file", in folder: Folder) async throws -> String {
            switch self {
            case .download:
                let file = try await client.run(GetFile(path: path).download(to: folder.file("x"), existing: .replace))
                return try String(contentsOf: file.url, encoding: .utf8)
            case .stream:
                var text = ""
                for try await line in client.stream(GetFile(path: path).lines) { text += line }
                return text
            case .upload:
                try Data("moved".utf8).write(to: folder.file("source"))
                let call = Call(path, method: .put, as: String.self) { $0.body = .file(folder.file("source")) }
                return try await client.run(call)
            }
        }
    }

    @Test(
        "Y14: base URL, query, fields, the attempt's number, cookies and interceptors reach the wire",
        arguments: WireTransport.allCases, Movement.allCases)
    func wire(kind: WireTransport, movement: Movement) async throws {
        let (server, folder, transport) = (try LoopbackServer(), try Folder(), try kind.make())
        let observer = RecordingObserver()
        server.on(
            movement.method, "/api/v9/file", [.status(503).settingCookies("taste=sweet; Path=/"), .text("there")])
        var configuration = Client.Configuration()
        configuration.baseURL = "\(server.baseURL)/api/v9?key=k"
        configuration.transport = transport
        configuration.fields = ["X-Client": "unusual", "Accept": "application/x-odd", "User-Agent": "odd/1"]
        configuration.query = ["lang": "eo"]
        configuration.attemptField = "X-Attempt"
        configuration.cookies = CookieJar()
        configuration.retry = RetryPolicy(attempts: 2, backoff: .constant(.milliseconds(1)))
        configuration.interceptors = [ClosureAdapter { request, _ in request.fields["X-Adapted"] = "yes" }]
        configuration.observers = [observer]
        let text = try await movement.run(Client(configuration: configuration), in: folder)
        #expect(text == "there")
        let received = server.requests
        #expect(received.map(\.target) == Array(repeating: "/api/v9/file?key=k&lang=eo", count: 2))
        #expect(received.map { $0.fields["X-Attempt"] } == ["1", "2"])
        #expect(received.map { $0.fields["Cookie"] } == [nil, "taste=sweet"])
        for request in received {
            #expect(request.fields["X-Client"] == "unusual" && request.fields["X-Adapted"] == "yes")
            #expect(request.fields[.accept] == "application/x-odd" && request.fields[.userAgent] == "odd/1")
            #expect(String(decoding: request.body, as: UTF8.self) == (movement == .upload ? "moved" : ""))
        }
        #expect(observer.story.first == "run" && observer.story.last == "run ended")
        transport.shutdown()
    }

    @Test(
        "Y14: the timeout holds for each attempt, and retries are as many as are allowed", arguments: Movement.allCases)
    func time(movement: Movement) async throws {
        let folder = try Folder()
        try await withVirtualTime(
            transport: ScriptedTransport { _, _ in .silence },
            configure: {
                $0.timeout = .milliseconds(1_234)
                $0.retry = RetryPolicy(attempts: 4, backoff: .constant(.milliseconds(111)))
            }
        ) { client, clock in
            let error = try await failure { try await movement.run(client, in: folder) }
            #expect(error.code == .timedOut)
            #expect(clock.elapsed == .milliseconds(4 * 1_234 + 3 * 111))
        }
    }

    @Test("Y14: what a client accepts, and whether it follows redirects, holds", arguments: Movement.allCases)
    func accepted(movement: Movement) async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(movement.method, "/teapot").reply(
            status: 418, fields: [.contentType: "text/plain"], body: Data("t".utf8))
        mock.on(movement.method, "/usual").reply(
            status: 200, fields: [.contentType: "text/plain"], body: Data("u".utf8))
        mock.on(movement.method, "/page").reply(status: 418, fields: [.contentType: "text/html"], body: Data("p".utf8))
        mock.on(movement.method, "/moved").reply(status: 307, fields: [.location: "/teapot"])
        try await withVirtualTime(
            transport: mock, seed: 1,
            configure: {
                $0.validation = Validation(statuses: [418], contentTypes: ["text/plain"])
                $0.redirects = .unfollowed
                $0.retry = .none
            }
        ) { client, _ in
            #expect(try await movement.run(client, path: "/teapot", in: folder) == "t")
            let codes = Record<BatonError.Code>()
            for path in ["/usual", "/page", "/moved"] {
                codes.add(try await failure { try await movement.run(client, path: path, in: folder) }.code)
            }
            #expect(codes.all == [.unacceptableStatus, .unacceptableContentType, .unacceptableStatus])
        }
    }

    @Test("Y14: the limit of what is in flight holds", arguments: Movement.allCases)
    func limits(movement: Movement) async throws {
        let folders = try (0..<4).map { _ in try Folder() }
        let transport = ScriptedTransport { _, _ in .reply(.status(200, "x"), after: .seconds(1)) }
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 2 }) { client, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for folder in folders { group.addTask { _ = try await movement.run(client, in: folder) } }
                try await group.waitForAll()
            }
        }
        #expect(transport.most <= 2 && transport.sent.count == 4)
    }

    @Test("Y14: the client's decoder reads the values of a stream, and its bound is for bodies in memory only")
    func decodingAndBounds() async throws {
        struct Stamped: Codable, Response, Equatable { let at: Date }
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200, body: Data("{\"at\": 1000}\n{\"at\": 2000}\n".utf8))
        try await withVirtualTime(
            transport: mock, seed: 1,
            configure: {
                $0.maxResponseBytes = 10
                $0.coding = BodyCoding(jsonDecoder: {
                    let decoder = JSONDecoder()
                    decoder.dateDecodingStrategy = .secondsSince1970
                    return decoder
                })
            }
        ) { client, _ in
            var stamps: [Double] = []
            for try await value in client.stream(GetFile().jsonLines(of: Stamped.self)) {
                stamps.append(value.at.timeIntervalSince1970)
            }
            #expect(stamps == [1_000, 2_000])
            #expect(try await client.run(GetFile().download(to: folder.file("x"))).byteCount == 26)
            #expect(try await failure { try await client.run(GetFile()) }.code == .responseTooLarge)
        }
    }
}
