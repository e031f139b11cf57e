import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What a stub answers") struct ReplyTests {
    let mock = MockTransport()
    var client: Client { Client(mock) }

    @Test("Values of every kind of output arrive as they were given")
    func values() async throws {
        struct Text: Request {
            typealias Output = String
            var path: String { "/text" }
        }
        struct Bytes: Request {
            typealias Output = Data?
            var path: String { "/bytes" }
        }
        struct Empty: Request {
            typealias Output = EmptyResponse
            var path: String { "/empty" }
        }
        struct Numbers: Request {
            typealias Output = [Int]
            var path: String { "/numbers" }
        }
        mock.on(Text.self).reply("plain \"text\"")
        mock.on(Bytes.self).reply(Data([0, 255]))
        mock.on(Empty.self).reply(EmptyResponse())
        mock.on(Numbers.self).reply([1, 2])
        #expect(try await client.run(Text()) == "plain \"text\"")
        #expect(try await client.run(Bytes()) == Data([0, 255]))
        #expect(try await client.run(Empty()) == EmptyResponse())
        #expect(try await client.run(Numbers()) == [1, 2])
    }

    @Test("A value can come with a status and fields, also for a request without a type")
    func statusAndFields() async throws {
        mock.on(.get, "/a").reply(["b": 1, "a": 2], status: 201, fields: ["X-Page": "2"])
        let response = try await client.run(Call("/a", as: HTTPResponse.self))
        #expect(response.status == 201)
        #expect(response.fields["x-page"] == "2")
        #expect(response.fields[.contentType] == "application/json")
        #expect(response.body == Data(#"{"a":2,"b":1}"#.utf8))
    }

    @Test("A reply that does not fit the output fails in the real decoding")
    func decoding() async throws {
        mock.on(GetOrder.self).reply(status: 200, json: #"{"total": "three"}"#)
        #expect(await client.error(of: GetOrder(id: 1))?.code == .decodingFailed)
    }

    @Test("A closure gets the request with its body as bytes, and what it throws is the failure")
    func closures() async throws {
        struct Odd: Error {}
        mock.on(.post, "/echo").reply { HTTPResponse(status: 200, body: $0.body.bytes ?? Data()) }
        mock.on(.post, "/later").reply { request in
            await Task.yield()
            return HTTPResponse(status: 200, body: request.body.bytes ?? Data())
        }
        mock.on(.get, "/odd").reply { _ in throw Odd() }
        mock.on(.get, "/lost").reply { _ in throw BatonError(.connectionLost) }
        for path in ["/echo", "/later"] {
            let text = try await client.run(
                Call(path, method: .post, as: String.self) { $0.body = .stream(stream(of: [Data("hi".utf8)])) })
            #expect(text == "hi")
        }
        #expect(await client.error(of: Call("/odd", as: String.self))?.code == .transportFailed)
        #expect(await client.error(of: Call("/lost", as: String.self))?.code == .connectionLost)
    }

    @Test("The task of an asynchronous closure is cancelled with its request")
    func cancelledClosure() async throws {
        let wasCancelled = LockBox<CheckedContinuation<Void, Never>?>(nil)
        // It ends only with the task that reads it.
        let silence = AsyncStream<Never>.makeStream()
        mock.on(.get, "/a").reply { _ in
            for await _ in silence.stream {}
            wasCancelled.withLock { $0 }?.resume()
            return HTTPResponse(status: 204)
        }
        let probe = Probe()
        await withCheckedContinuation { continuation in
            wasCancelled.withLock { $0 = continuation }
            let transmission = mock.send(try! HTTPRequest(url: "https://h/a"), to: probe.receiver)
            transmission.cancel()
        }
        #expect(probe.code == .cancelled)
        #expect(probe.now.ends == 1)
    }

    @Test("A file is answered with the content type of its name, and a missing one is a failure")
    func files() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "order-\(UInt64.random(in: 0 ... .max)).json")
        try Data(#"{"total": 9}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        mock.on(GetOrder.self).reply(file: file)
        #expect(try await client.run(GetOrder(id: 1)).total == 9)
        mock.on(GetOrder.self).reply(file: file.appendingPathExtension("gone"))
        #expect(await client.error(of: GetOrder(id: 1))?.message.contains(".json.gone") == true)
    }

    @Test("Held requests are answered one by one, in their order, and a release may come first")
    func holds() async throws {
        let held = mock.on(pattern: "/orders/*").hold()
        let client = client
        var runs: [Run<Order>] = []
        for id in 0..<3 {
            runs.append(client.start(GetOrder(id: id)))
            await mock.waitForRequests(id + 1)
        }
        for n in 0..<2 { held.release(Order(total: n)) }
        held.fail(.connectionLost)
        for n in 0..<2 { #expect(try await runs[n].value.total == n) }
        let lost = await #expect(throws: BatonError.self) { try await runs[2].value }
        #expect(lost?.code == .connectionLost)
        held.release(json: #"{"total": 7}"#)
        #expect(try await client.run(GetOrder(id: 9)).total == 7)
        held.releaseAll(body: Data(#"{"total": 8}"#.utf8))
        #expect(try await client.run(GetOrder(id: 9)).total == 8)
    }

    @Test("A held request that is cancelled waits no more")
    func cancelledHold() throws {
        let held = mock.on(.get, "/a").hold()
        let probe = Probe()
        let transmission = mock.send(try HTTPRequest(url: "https://h/a"), to: probe.receiver)
        #expect(held.waiting == 1)
        transmission.cancel()
        #expect(held.waiting == 0)
        #expect(probe.code == .cancelled)
    }

    @Test("A body in pieces waits while the receiver wants to", arguments: [Duration.zero, .milliseconds(1)])
    func chunks(_ interval: Duration) async throws {
        let pieces = ["a", "b", "c"].map { Data($0.utf8) }
        mock.on(.get, "/a").reply(chunks: pieces, every: interval)
        let probe = Probe()
        probe.setDemand(.wait)
        let transmission = mock.send(try HTTPRequest(url: "https://h/a"), to: probe.receiver)
        for count in 1...3 {
            await probe.chunks(count)
            #expect(probe.now.chunks == Array(pieces[..<count]))
            #expect(probe.now.ends == 0)
            transmission.resume()
        }
        #expect(try await probe.end().get().body == Data("abc".utf8))
        #expect(probe.now.ends == 1)
    }

    @Test("A body in pieces can end badly, and the client sees it whole when it ends well")
    func badEnd() async throws {
        let pieces = [Data(#"{"total""#.utf8), Data(": 4}".utf8)]
        mock.on(.get, "/good").reply(chunks: pieces)
        mock.on(.get, "/bad").reply(chunks: pieces, failing: .connectionLost)
        #expect(try await client.run(Call("/good", as: Order.self)).total == 4)
        #expect(await client.error(of: Call("/bad", as: Order.self))?.code == .connectionLost)
    }

    @Test("A value that cannot be encoded fails the request and says so")
    func unencodable() async throws {
        struct Endless: Encodable { let number = Double.infinity }
        mock.on(.get, "/a").reply(Endless())
        let error = await client.error(of: Call("/a", as: String.self))
        #expect(error?.code == .encodingFailed)
        #expect(error?.message.contains("Endless") == true)
    }

    @Test("A call tells the parameters of its query, decoded and in order")
    func parameters() async throws {
        mock.on(.get, "/a").anyQuery().reply(status: 204)
        _ = try await client.run(Call("/a", as: EmptyResponse.self) { $0.query = ["q": "x y", "p": [1, 2]] })
        let parameters = try #require(mock.calls.last?.parameters)
        #expect(parameters.map(\.name) == ["q", "p[]", "p[]"])
        #expect(parameters.map(\.value) == ["x y", "1", "2"])
    }
}
