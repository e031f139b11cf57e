import Baton
import BatonTesting
import Testing

@Suite("Which interceptors stand around a request") struct InterceptorSelectionTests {
    /// Puts a field on each request; it is named by the field.
    private struct Stamp: RequestAdapter {
        let name: String
        var value = "client"
        var id: InterceptorID { InterceptorID(name) }
        func adapt(_ request: inout HTTPRequest, context: AttemptContext) {
            request.fields.append(value, for: HTTPFieldName("X-\(name)"))
        }
    }

    private let mock = MockTransport()

    private func stamps(_ selection: InterceptorSelection?) async throws -> [String] {
        mock.reset()
        mock.on(.post, "/things").reply(status: 204)
        let client = Client(
            baseURL: "http://mock", transport: mock, interceptors: [Stamp(name: "A"), Stamp(name: "B")])
        _ = try await client.run(Send(options: RequestOptions { $0.interceptors = selection }))
        return mock.calls[0].fields.filter { $0.name.rawName.hasPrefix("X-") }.map { "\($0.name.rawName)=\($0.value)" }
    }

    @Test("A request has all of its client's, all but some, only some, or more")
    func choices() async throws {
        #expect(try await stamps(nil) == ["X-A=client", "X-B=client"])
        #expect(try await stamps(.except("A")) == ["X-B=client"])
        #expect(try await stamps(.only("A")) == ["X-A=client"])
        #expect(try await stamps(InterceptorSelection.none) == [])
        #expect(try await stamps(.adding(Stamp(name: "C"))) == ["X-A=client", "X-B=client", "X-C=client"])
        #expect(try await stamps(.except("A").adding(Stamp(name: "C"))) == ["X-B=client", "X-C=client"])
    }

    @Test("One that is added under the name of a client's stands in its place")
    func replacing() async throws {
        #expect(try await stamps(.adding(Stamp(name: "A", value: "own"))) == ["X-A=own", "X-B=client"])
    }

    @Test("The nearest choice holds, and the asynchronous kind follows it too, attempt by attempt")
    func nearest() async throws {
        mock.on(pattern: "/items/*").reply(status: 503, times: 1).reply(json: #"{"n": 1}"#)
        mock.on(.post, "/things").reply(status: 204)
        let (call, attempt) = (CountingInterceptor(.call), CountingInterceptor())
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [Stamp(name: "A")] }
        ) { [mock] client, _ in
            let own = Send(options: RequestOptions { $0.interceptors = .all })
            let plan = GetItem(n: 1).then { _ in own }.interceptors(.except("A").adding(call, attempt))
            _ = try await client.run(plan)
            #expect(call.paths == ["/items/1"])
            #expect(attempt.seen.map(\.attempt) == [1, 2])
            #expect(mock.calls.map { $0.fields.contains("X-A") } == [false, false, true])
        }
    }

    @Test("The name of a type's interceptors is that of the type, without its arguments")
    func names() {
        #expect(CountingInterceptor().id == "CountingInterceptor")
        #expect(InterceptorID([Int].self) == "Array")
    }

    @Test("An interceptor's own requests go through a client without it")
    func runner() async throws {
        mock.on(.get, "/other").reply(status: 204)
        mock.on(pattern: "/items/*").reply(json: #"{"n": 1}"#)
        let stamped = Stamp(name: "A")
        let asking = ClosureInterceptor { request, context, next in
            _ = try await context.runner.run(Call("/other", as: EmptyResponse.self))
            return try await next(request)
        }
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [asking, stamped] }
        ) { [mock] client, _ in
            _ = try await client.run(GetItem(n: 1))
            #expect(mock.calls.map(\.path) == ["/other", "/items/1"])
            #expect(mock.calls.map { $0.fields.contains("X-A") } == [true, true])
        }
    }
}
