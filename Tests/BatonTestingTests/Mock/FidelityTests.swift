import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What the mock records, and how it keeps time") struct FidelityTests {
    let mock = MockTransport()

    @Test("S61 Of 200 parallel calls exactly 200 are counted")
    func exactCount() async throws {
        mock.on(pattern: "/items/*").reply(status: 204).expect(count: 200)
        let client = Client(mock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<200 {
                group.addTask { _ = try await client.run(Call("/items/\(n)", as: EmptyResponse.self)) }
            }
            try await group.waitForAll()
        }
        #expect(mock.calls.count == 200)
        #expect(Set(mock.calls.map(\.path)).count == 200)
        #expect(mock.calls.map(\.number) == Array(1...200))
        #expect(mock.inFlight == 0)
        #expect((1...64).contains(mock.maxInFlight))
        try mock.verify()
    }

    @Test("S61 Two mocks with the same URL know nothing of each other", arguments: [1, 2])
    func isolation(_ total: Int) async throws {
        mock.on(.get, "/orders/7").reply(status: 200, json: #"{"total": \#(total)}"#)
        #expect(try await Client(mock).run(GetOrder(id: 7)).total == total)
        #expect(mock.calls.count == 1)
    }

    @Test("S61 The bytes of the body are recorded, whatever kind of body it is")
    func bodies() async throws {
        mock.on(.post, "/a").reply(status: 204)
        let client = Client(mock)
        let bodies: [(HTTPBody, String)] = [
            (.none, ""), (.data(Data("abc".utf8)), "abc"), (.text("é"), "é"),
            (.json(["b": 1, "a": 2]), #"{"a":2,"b":1}"#),
            (.form(["a": "1 2"]), "a=1+2"),
            (.stream(stream(of: [Data("ab".utf8), Data("cd".utf8)])), "abcd"),
            (.stream(stream(of: [Data("ab".utf8), Data("cd".utf8)], later: true)), "abcd"),
        ]
        for (body, _) in bodies {
            _ = try await client.run(Call("/a", method: .post, as: EmptyResponse.self) { $0.body = body })
        }
        #expect(mock.calls.map { String(decoding: $0.body, as: UTF8.self) } == bodies.map(\.1))
        #expect(mock.calls.map { $0.fields[.contentType] }[3] == "application/json")
    }

    @Test("S61 A delay of 5 s that is cancelled ends at once and leaves no timer")
    func cancelledDelay() async throws {
        let scheduler = CountingScheduler()
        mock.attach(to: scheduler)
        mock.on(.get, "/a").reply(status: 204, after: .seconds(3_600))
        let probe = Probe()
        let transmission = mock.send(try HTTPRequest(url: "https://h/a"), to: probe.receiver)
        #expect(scheduler.timers == 1)
        #expect(mock.inFlight == 1)
        transmission.cancel()
        transmission.cancel()
        #expect(probe.code == .cancelled)
        #expect(probe.now.ends == 1)
        #expect(scheduler.timers == 0)
        #expect(mock.inFlight == 0)
    }

    @Test("S61 A run whose reply is delayed is cancelled through the client")
    func cancelledRun() async throws {
        mock.on(.get, "/a").reply(status: 204, after: .seconds(3_600))
        let run = Client(mock).start(Call("/a", as: EmptyResponse.self))
        await mock.waitForRequests(1)
        run.cancel()
        let error = await #expect(throws: BatonError.self) { try await run.value }
        #expect(error?.isCancelled == true)
        await mock.waitUntilIdle()
        #expect(mock.inFlight == 0)
    }

    @Test("S61 Delays, intervals and closures run on the clock of the client")
    func delay() async throws {
        mock.on(.get, "/a").reply(status: 204, after: .seconds(3_600))
        mock.on(.get, "/b").reply(chunks: ["a", "b", "c"].map { Data($0.utf8) }, every: .seconds(10))
        mock.on(.get, "/c").reply(after: .seconds(5)) { _ in
            await Task.yield()
            return HTTPResponse(status: 204)
        }
        try await withVirtualTime(transport: mock, configure: { $0.timeout = .seconds(7_200) }) { client, clock in
            _ = try await client.run(Call("/a", as: EmptyResponse.self))
            #expect(clock.elapsed == .seconds(3_600))
            #expect(try await client.run(Call("/b", as: String.self)) == "abc")
            #expect(clock.elapsed == .seconds(3_620))
            _ = try await client.run(Call("/c", as: EmptyResponse.self))
            #expect(clock.elapsed == .seconds(3_625))
        }
    }

    @Test("S61 Under virtual time a held request waits until it is released, and the attempt's timeout ends it")
    func heldUnderVirtualTime() async throws {
        let held = mock.on(.get, "/a").hold()
        try await withVirtualTime(transport: mock) { [mock] client, clock in
            let run = client.start(Call("/a", as: EmptyResponse.self))
            await mock.waitForRequests(1)
            held.release(status: 204)
            _ = try await run.value
            #expect(clock.elapsed == .zero)
            let error = await client.error(
                of: Call("/a", as: EmptyResponse.self) { $0.options.retry = RetryPolicy(attempts: 1) })
            #expect(error?.code == .timedOut)
            #expect(clock.elapsed == .seconds(60))
            #expect(held.waiting == 0)
        }
    }

    @Test("An exchange is over before its receiver hears of it")
    func countsInFlight() throws {
        mock.on(.get, "/a").reply(status: 204)
        let seen = LockBox(-1)
        let probe = Probe { [mock] in seen.withLock { $0 = mock.inFlight } }
        _ = mock.send(try HTTPRequest(url: "https://h/a"), to: probe.receiver)
        #expect(seen.withLock { $0 } == 0)
        #expect(mock.maxInFlight == 1)
    }

    @Test("A mock that is shut down ends what is open and refuses what comes")
    func shutdown() throws {
        mock.on(.get, "/a").hold()
        let (first, second) = (Probe(), Probe())
        _ = mock.send(try HTTPRequest(url: "https://h/a"), to: first.receiver)
        mock.shutdown()
        _ = mock.send(try HTTPRequest(url: "https://h/a"), to: second.receiver)
        #expect(first.code == .transportClosed)
        #expect(second.code == .transportClosed)
    }

    @Test("A verification tells wrong counts, stubs that were not used and requests that had no reply")
    func verification() async throws {
        mock.on(.get, "/a").reply(status: 204).expect(count: 2)
        mock.on(.get, "/b").reply(status: 204)
        mock.on(.get, "/never").reply(status: 204).expect(count: 0)
        let client = Client(mock)
        _ = try await client.run(Call("/a", as: EmptyResponse.self))
        _ = await client.error(of: Call("/c", as: EmptyResponse.self))
        let error = #expect(throws: MockVerificationError.self) { try mock.verify() }
        let problems = try #require(error?.problems)
        #expect(problems.count == 3)
        #expect(
            problems[0].hasPrefix("GET /a (FidelityTests.swift:") && problems[0].hasSuffix("expected 2 requests, got 1")
        )
        #expect(problems[1].hasPrefix("GET /b") && problems[1].hasSuffix("never used"))
        #expect(problems[2] == "request 2, GET /c: no stub had a reply")
    }
}
