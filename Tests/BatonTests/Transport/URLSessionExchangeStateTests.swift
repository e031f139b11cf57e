import Testing

@testable import Baton

@Suite("The state of an exchange over URLSession")
struct URLSessionExchangeStateTests {
    private func head(_ status: Int = 200, _ length: Int64? = nil, _ more: HTTPFields = [:]) -> HTTPResponseHead {
        var fields = more
        fields[.contentLength] = length.map { String($0) }
        return HTTPResponseHead(status: status, fields: fields)
    }

    private func running(status: Int = 200, length: Int64? = nil) -> URLSessionExchangeState {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        _ = state.didStart()
        _ = state.receiveHead(head(status, length))
        return state
    }

    @Test("A response with head and bytes is told and complete")
    func complete() {
        var state = URLSessionExchangeState()
        #expect(state.willStart() == true)
        #expect(state.didStart() == false)
        #expect(state.receiveHead(head(200, 3)) == true)
        #expect(state.receiveBytes(3) == true)
        #expect(state.finish(nil) == .complete)
        #expect(state.finish(nil) == nil)
    }

    @Test("No task is made for what was stopped before, and none is to be stopped")
    func stoppedBeforeStart() {
        var state = URLSessionExchangeState()
        #expect(state.stop() == .answer)
        #expect(state.stop() == .nothing)
        #expect(state.willStart() == false)
        #expect(state.willStopTask() == false)
    }

    @Test("What is stopped while it starts is stopped once it has started")
    func stoppedWhileStarting() {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        #expect(state.stop() == .answer)
        #expect(state.didStart() == true)
        #expect(state.willStopTask() == true)
        #expect(state.willStopTask() == false)
        #expect(state.finish(.cancelled) == nil)
    }

    @Test("What ends while it starts needs no stop")
    func endsWhileStarting() {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        _ = state.receiveHead(head(200, 0))
        #expect(state.finish(nil) == .complete)
        #expect(state.didStart() == false)
        #expect(state.stop() == .nothing)
    }

    @Test("A running task is stopped, and nothing of it is told afterwards")
    func stoppedWhileRunning() {
        var state = running()
        #expect(state.stop() == .answerAndStopTask)
        #expect(state.receiveHead(head(200, nil)) == false)
        #expect(state.receiveBytes(1) == false)
        #expect(state.receiveSent(1, of: 1) == nil)
        #expect(state.willStopTask() == true)
        #expect(state.finish(nil) == nil)
    }

    @Test("A task that completed before it could be stopped is let be")
    func finishedBeforeStop() {
        var state = running()
        _ = state.stop()
        #expect(state.finish(nil) == nil)
        #expect(state.willStopTask() == false)
    }

    @Test("A task whose body is all there finishes unheard")
    func stoppedWhenComplete() {
        var state = running(length: 3)
        _ = state.receiveBytes(2)
        var early = state
        #expect(early.stop() == .answerAndStopTask)
        _ = state.receiveBytes(1)
        #expect(state.stop() == .answer)
        #expect(state.finish(nil) == nil)
    }

    @Test("Interim heads and second heads are not told, nor are bytes without a head")
    func interim() {
        var state = running(status: 103)
        #expect(state.receiveBytes(5) == false)
        #expect(state.received == 0)
        #expect(state.receiveHead(head(200, nil)) == true)
        #expect(state.receiveHead(head(500, nil)) == false)
    }

    @Test("Fewer bytes than announced are a truncated body", arguments: [0, 2, 3, 4])
    func truncated(count: Int) {
        var state = running(length: 3)
        _ = state.receiveBytes(count)
        #expect(state.finish(nil) == (count < 3 ? .fail(.truncated) : .complete))
    }

    @Test(
        "A length that is not the body's own is no truncation",
        arguments: [
            ("Content-Encoding", 200, false), ("Transfer-Encoding", 200, false), ("X", 204, false), ("X", 304, false),
            ("X", 200, true),
        ])
    func lengthOfSomethingElse(field: String, status: Int, isHead: Bool) {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        #expect(state.receiveHead(head(status, 9, [HTTPFieldName(field): "gzip"]), isHead: isHead) == true)
        #expect(state.finish(nil) == .complete)
        #expect(state.receivedOnWire == (field == "Content-Encoding" ? nil : 0))
    }

    @Test("A refused challenge is the response; any other cancellation is a failure")
    func challenge() {
        var challenged = running(status: 401, length: 0)
        challenged.receiveChallenge()
        #expect(challenged.finish(.cancelled) == .complete)
        var other = running(status: 401, length: 0)
        #expect(other.finish(.cancelled) == .fail(.cancelled))
        var short = running(status: 401, length: 5)
        short.receiveChallenge()
        #expect(short.finish(.cancelled) == .fail(.truncated))
    }

    @Test(
        "A task whose server was refused fails for that, whatever the session calls it",
        arguments: [URLSessionFailure.cancelled, .code(.connectionLost), .unknown(.secure), nil])
    func refused(failure: URLSessionFailure?) {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        _ = state.didStart()
        state.refuse(.notPinned)
        var stopped = state
        #expect(state.finish(failure) == .fail(.refused(.notPinned)))
        #expect(stopped.stop() == .answerAndStopTask)
        #expect(stopped.finish(failure) == nil)
    }

    @Test("A response that came over another connection than the refused one counts")
    func refusedOnce() {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        _ = state.didStart()
        state.refuse(.untrusted(-67_843))
        #expect(state.receiveHead(head(200, 0)) == true)
        #expect(state.finish(nil) == .complete)
    }

    @Test("A task that ends well without a head may hold one")
    func headOfTask() {
        var state = URLSessionExchangeState()
        _ = state.willStart()
        _ = state.didStart()
        #expect(state.finish(nil) == .completeWithHeadOfTask)
    }

    @Test("The count of sent bytes rises and stays below the total")
    func sent() {
        var state = running()
        let told = [5, 3, 5, 9, 99].map { state.receiveSent($0, of: 10) }
        #expect(told == [5, nil, nil, 9, 10])
        #expect(state.receiveSent(99, of: nil) == 99)
    }

    @Test("A redirect is not answered once the task was stopped")
    func redirect() {
        var state = running()
        #expect(state.mayAnswerRedirect)
        _ = state.stop()
        #expect(state.mayAnswerRedirect)
        _ = state.willStopTask()
        #expect(!state.mayAnswerRedirect)
    }
}
