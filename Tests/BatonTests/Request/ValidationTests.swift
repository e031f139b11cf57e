import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Validation") struct ValidationTests {
    private let mock = MockTransport()

    private func code(
        _ validation: Validation?, _ response: HTTPResponse, client clientValidation: Validation = Validation()
    ) async throws -> BatonError.Code? {
        mock.on(.get, "/x").reply(response)
        return try await withVirtualTime(
            transport: mock,
            configure: {
                $0.retry = .none
                $0.validation = clientValidation
            }
        ) { client, _ in
            do {
                _ = try await client.run(Call("/x", as: EmptyResponse.self) { $0.options.validation = validation })
                return nil
            } catch {
                #expect((error as? BatonError)?.response?.status == response.status)
                return (error as? BatonError)?.code
            }
        }
    }

    @Test("Only the statuses that are named are accepted; a request says more than its client")
    func statuses() async throws {
        #expect(try await code(nil, .status(404)) == .unacceptableStatus)
        #expect(try await code(Validation(statuses: [200, 404]), .status(404)) == nil)
        #expect(try await code(Validation(statuses: [404]), .status(200)) == .unacceptableStatus)
        #expect(try await code(.anything, .status(500)) == nil)
        #expect(try await code(nil, .status(500), client: .anything) == nil)
        #expect(try await code(Validation(), .status(500), client: .anything) == .unacceptableStatus)
    }

    @Test("Content types are compared without parameters and case; an empty body needs none")
    func contentTypes() async throws {
        let validation = Validation(contentTypes: ["application/json", "image/*"])
        func response(_ type: String?, body: String = "x") -> HTTPResponse {
            HTTPResponse(status: 200, fields: type.map { [.contentType: $0] } ?? [:], body: Data(body.utf8))
        }
        #expect(try await code(validation, response("Application/JSON; charset=utf-8")) == nil)
        #expect(try await code(validation, response("image/png")) == nil)
        #expect(try await code(validation, response("text/html")) == .unacceptableContentType)
        #expect(try await code(validation, response("imagery/png")) == .unacceptableContentType)
        #expect(try await code(validation, response(nil)) == .unacceptableContentType)
        #expect(try await code(validation, response(nil, body: "")) == nil)
    }

    @Test("A shape says where the body differs; a check throws what it likes")
    func bodies() async throws {
        let shape = Validation(shape: .object(["n": .integer]))
        #expect(try await code(shape, .status(200, #"{"n": 1}"#)) == nil)
        #expect(try await code(shape, .status(200, #"{"n": "1"}"#)) == .validationFailed)
        #expect(try await code(shape, .status(200, "<html>")) == .validationFailed)
        struct Refused: Error {}
        let check = Validation { if $0.body.isEmpty { throw Refused() } }
        #expect(try await code(check, .status(200)) == .validationFailed)
        #expect(try await code(check, .status(200, "x")) == nil)
        let own = Validation { _ in throw BatonError(.signInNeeded) }
        #expect(try await code(own, .status(200, "x")) == .signInNeeded)
    }

    @Test("Retries and interceptors see what a check refuses, and the plan's validation holds for its requests")
    func layers() async throws {
        mock.on(.get, "/x").reply(status: 200, body: Data("busy".utf8), times: 2).reply(status: 200)
        let seen = Record<BatonError.Code>()
        let watch = Modify(recover: { error, _, _ in
            seen.add(error.code)
            return nil
        })
        let events = RecordingObserver()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [watch]
                $0.observers = [events]
                $0.retry = RetryPolicy(
                    backoff: .none,
                    retryable: { $0.error.code == .validationFailed ? .retry(after: nil) : nil })
            }
        ) { client, _ in
            struct Busy: Error {}
            let check = Validation { if $0.body == Data("busy".utf8) { throw Busy() } }
            _ = try await client.run(Call("/x", as: EmptyResponse.self).validation(check))
            #expect(seen.all == [.validationFailed, .validationFailed])
        }
        #expect(
            events.story.filter { $0.hasPrefix("attempt") } == [
                "attempt 1 /x", "attempt 1 /x: validationFailed", "attempt 2 /x", "attempt 2 /x: validationFailed",
                "attempt 3 /x", "attempt 3 /x: 200",
            ])
    }

    @Test("A check may wait for another run of its client, also with one slot", arguments: Carrier.allCases)
    func blockingCheck(_ carrier: Carrier) async throws {
        let other = LockBox<Client?>(nil)
        let check = Validation { response in
            guard response.body == Data("outer".utf8) else { return }
            let gate = Gate()
            other.withLock { $0 }?.start(Call("/inner", as: String.self), on: .global()) { _ in gate.open() }
            if !gate.blocks(within: 20) { throw BatonError(.timedOut, "the other run did not end") }
        }
        let hosts = try HostPair(
            carrier,
            configure: {
                $0.validation = check
                $0.maxConcurrency = 1
            }, HostPair.table(["a/outer": .status(200, "outer"), "a/inner": .status(200, "inner")]))
        other.withLock { $0 = hosts.client }
        #expect(try await hosts.client.run(Call("/outer", as: String.self)) == "outer")
        other.withLock { $0 = nil }
    }

    @Test("A cancel while a check is under way ends the request once, and the attempt is told to have ended")
    func cancelledCheck() async throws {
        let (began, goOn) = (Gate(), Gate())
        let events = RecordingObserver()
        let hosts = try HostPair(
            .mock,
            configure: {
                $0.observers = [events]
                $0.validation = Validation { _ in
                    began.open()
                    _ = goOn.blocks()
                }
            }, HostPair.table(["a/x": .status(200)]))
        let run = hosts.client.counting(Call("/x", as: EmptyResponse.self))
        await began.opens()
        run.run.cancel()
        await run.ended.opens()
        goOn.open()
        #expect(run.completions.count == 1)
        #expect(try await failure { try await run.run.value }.isCancelled)
        while !events.story.contains("run ended: cancelled") { await Task.yield() }
        #expect(events.story == ["run", "attempt 1 /x", "attempt 1 /x: cancelled", "run ended: cancelled"])
    }
}
