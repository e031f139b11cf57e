import Baton
import Dispatch
import Foundation

/// The results of a contestant: how many requests yielded what they should.
final class Tally: Sendable {
    private let slots: LockBox<[Bool]>
    init(_ count: Int) { slots = LockBox(Array(repeating: false, count: count)) }
    func note(_ index: Int, _ result: Result<HTTPResponse, BatonError>) {
        if case .success(let response) = result, response.status == 200 { slots.withLock { $0[index] = true } }
    }
    var isComplete: Bool { slots.withLock { $0.allSatisfy { $0 } } }
}

/// What others do for the same work. Each returns once every request has its result in its place.
enum Peers {
    /// No limit at all: a callback for each request.
    static func loop(_ count: Int, over transport: any Transport) async -> Bool {
        let tally = Tally(count)
        let rest = LockBox(count)
        await withCheckedContinuation { continuation in
            for index in 0..<count {
                let receiver = TransportReceiver(
                    Callback { result in
                        tally.note(index, result)
                        let isLast = rest.withLock { rest in
                            rest -= 1
                            return rest == 0
                        }
                        if isLast { continuation.resume() }
                    })
                _ = transport.send(Bare.request(), to: receiver)
            }
        }
        return tally.isComplete
    }

    /// What every contestant does beside sending: the request is built, and the result put in its place.
    static func work(_ count: Int) -> Bool {
        let tally = Tally(count)
        for index in 0..<count {
            let request = Bare.request()
            tally.note(
                index, request.target.isEmpty ? .failure(BatonError(.cancelled)) : .success(InlineTransport.response))
        }
        return tally.isComplete
    }

    /// A semaphore of Dispatch's that holds back whoever sends.
    static func semaphore(_ count: Int, limit: Int, over transport: any Transport) async -> Bool {
        let tally = Tally(count)
        let places = DispatchSemaphore(value: limit)
        let done = DispatchGroup()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for index in 0..<count {
                    places.wait()
                    done.enter()
                    _ = transport.send(
                        Bare.request(),
                        to: TransportReceiver(
                            Callback { result in
                                tally.note(index, result)
                                places.signal()
                                done.leave()
                            }))
                }
                done.notify(queue: .global()) { continuation.resume() }
            }
        }
        return tally.isComplete
    }

    /// Single requests of the library, all given to `start` at once.
    static func singles(_ count: Int, over transport: any Transport) async -> Bool {
        let client = Client(baseURL: "http://bench.example", transport: transport)
        let queue = DispatchQueue(label: "bench.singles")
        let state = LockBox((done: 0, right: 0))
        await withCheckedContinuation { continuation in
            for _ in 0..<count {
                client.start(Ping(), on: queue) { result in
                    let isLast = state.withLock { state in
                        state.done += 1
                        if case .success = result { state.right += 1 }
                        return state.done == count
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        return state.withLock { $0.right } == count
    }

    /// A task group that keeps `limit` requests going.
    static func taskGroup(_ count: Int, limit: Int, over transport: any Transport) async -> Bool {
        let tally = Tally(count)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= limit { await group.next() }
                group.addTask {
                    let result = await withCheckedContinuation { continuation in
                        _ = transport.send(
                            Bare.request(), to: TransportReceiver(Callback { continuation.resume(returning: $0) }))
                    }
                    tally.note(index, result)
                }
            }
        }
        return tally.isComplete
    }

    /// An operation queue with asynchronous operations.
    static func operationQueue(_ count: Int, limit: Int, over transport: any Transport) async -> Bool {
        let tally = Tally(count)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = limit
        await withCheckedContinuation { continuation in
            let rest = LockBox(count)
            for index in 0..<count {
                queue.addOperation(
                    SendOperation(transport: transport) { result in
                        tally.note(index, result)
                        let isLast = rest.withLock { rest in
                            rest -= 1
                            return rest == 0
                        }
                        if isLast { continuation.resume() }
                    })
            }
        }
        return tally.isComplete
    }
}

/// An operation that is finished when its reply is there.
final class SendOperation: Operation, @unchecked Sendable {
    private let transport: any Transport
    private let body: @Sendable (Result<HTTPResponse, BatonError>) -> Void
    private let stage = LockBox(0)

    init(transport: any Transport, _ body: @escaping @Sendable (Result<HTTPResponse, BatonError>) -> Void) {
        self.transport = transport
        self.body = body
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { stage.withLock { $0 == 1 } }
    override var isFinished: Bool { stage.withLock { $0 == 2 } }

    override func start() {
        move(to: 1, "isExecuting")
        _ = transport.send(
            Bare.request(),
            to: TransportReceiver(
                Callback { [self] result in
                    body(result)
                    move(to: 2, "isFinished")
                }))
    }

    private func move(to stage: Int, _ key: String) {
        willChangeValue(forKey: key)
        self.stage.withLock { $0 = stage }
        didChangeValue(forKey: key)
    }
}
