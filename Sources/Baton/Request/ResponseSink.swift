package import Foundation

/// Takes the body of an accepted response, piece by piece, in place of memory.
///
/// One belongs to one call with all of its attempts. An exchange is named by a number that is never used again; what
/// comes for another one than the latest that was opened is dropped. Nothing of it is called under a lock.
package protocol ResponseSink: AnyObject, Sendable {
    /// The call begins; what the sink has to do is work of `scheduler`.
    func attach(to scheduler: any Scheduler)

    /// Says in the request of an attempt what is still wanted of the body.
    func prepare(_ request: inout HTTPRequest)

    /// The head of an accepted response is there; its body follows.
    func open(_ head: HTTPResponseHead, _ exchange: SinkExchange) -> SinkAnswer

    /// Bytes of the body.
    func take(_ bytes: Data, of exchange: UInt64) -> Demand

    /// The body is complete. `done` is called once, when the sink is done with it or has found a fault.
    func close(_ exchange: UInt64, done: @escaping @Sendable (BatonError?) -> Void)

    /// The body broke off. `done` is called once, when what was taken is safe.
    func interrupt(_ exchange: UInt64, done: @escaping @Sendable () -> Void)

    /// The request with which the sink asks once more, as a part of the same attempt, after it has refused a response
    /// with `again` or the response was not accepted; nil: the response counts.
    func again(after head: HTTPResponseHead, _ request: HTTPRequest) -> HTTPRequest?

    /// Whether another attempt makes sense: the sink can go on where it is, or start over.
    var mayRetry: Bool { get }

    /// The call has failed, for good: nobody asks for what was taken.
    func callFailed()
}

extension ResponseSink {
    package func attach(to scheduler: any Scheduler) {}
    package func prepare(_ request: inout HTTPRequest) {}
    package func interrupt(_ exchange: UInt64, done: @escaping @Sendable () -> Void) { done() }
    package func again(after head: HTTPResponseHead, _ request: HTTPRequest) -> HTTPRequest? { nil }
    package func callFailed() {}
}

/// One exchange as a sink knows it.
package struct SinkExchange: Sendable {
    /// Names it.
    package let id: UInt64
    /// More bytes are wanted after `.wait`.
    package let resume: @Sendable () -> Void
    /// The exchange is to end with this error.
    package let fail: @Sendable (BatonError) -> Void

    package init(
        id: UInt64, resume: @escaping @Sendable () -> Void, fail: @escaping @Sendable (BatonError) -> Void
    ) {
        self.id = id
        self.resume = resume
        self.fail = fail
    }
}

/// What a sink says to the head of a response.
package enum SinkAnswer: Sendable {
    /// It takes the body, which begins at `offset` of the whole and ends at `total`, where that is known.
    case take(offset: Int64, total: Int64?)
    /// The response is of no use, and the call fails.
    case fail(BatonError)
    /// The response is of no use; another request is.
    case again
}
