internal import Foundation

extension Client {
    /// Sends a request and yields what its response holds, while it comes.
    ///
    /// ```swift
    /// for try await event in client.stream(Chat(prompt).serverSentEvents) { … }
    /// ```
    /// The request is sent when the loop begins, and holds its slot until the response has ended. Leaving the loop, or
    /// cancelling its task, ends the exchange. A reader that is slow holds the server up where the transport can
    /// (`CurlTransport`); elsewhere what it has not read yet waits in memory. Once something was read, a failure is
    /// final, unless the stream is one that goes on where it was. Each loop is a request of its own.
    public func stream<Element>(_ response: ResponseStream<Element>) -> ResponseElements<Element> {
        ResponseElements(client: self, response: response)
    }
}

/// What a response holds, as it comes. Each loop over it sends the request anew.
public struct ResponseElements<Element: Sendable>: AsyncSequence, Sendable {
    let client: Client
    let response: ResponseStream<Element>

    public func makeAsyncIterator() -> Iterator { Iterator(client, response) }

    /// One pass over a response. Its request is cancelled when the iterator goes, or the task that reads.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: Client
        private let response: ResponseStream<Element>
        private var parser: any StreamParser<Element>
        private var connection: StreamConnection?
        private var fields = HTTPFields()
        /// What was parsed and not yielded yet, and what was received and not parsed yet.
        private var elements: [Element] = []
        private var next = 0
        private var pieces: [Data] = []
        private var nextPiece = 0
        private var isOver = false

        fileprivate init(_ client: Client, _ response: ResponseStream<Element>) {
            self.client = client
            self.response = response
            parser = response.makeParser(client.configuration.coding)
        }

        public mutating func next() async throws -> Element? {
            while true {
                if next < elements.count {
                    defer { next += 1 }
                    return elements[next]
                }
                if isOver { return nil }
                (elements, next) = ([], 0)
                do {
                    try await advance()
                } catch {
                    // After an error there is nothing more.
                    (isOver, connection, elements) = (true, nil, [])
                    throw error
                }
            }
        }

        /// Gets more elements, or comes to the end.
        private mutating func advance() async throws(BatonError) {
            if nextPiece < pieces.count {
                let piece = pieces[nextPiece]
                nextPiece += 1
                elements = try parser.parse(piece)
                return
            }
            (pieces, nextPiece) = ([], 0)
            let connection = connection ?? StreamConnection(client, response, fields)
            self.connection = connection
            var failure: BatonError?
            do throws(BatonError) {
                if let pieces = try await connection.next() {
                    self.pieces = pieces
                    return
                }
                elements = try parser.finish()
            } catch {
                // A connection that showed nothing was tried as often as the retry policy says.
                guard error.code.isTransient, connection.sink.hasBegun else { throw error }
                failure = error
            }
            self.connection = nil
            guard let again = parser.reconnection(after: connection.sink.head) else {
                isOver = true
                if let failure { throw failure }
                return
            }
            fields = again.fields
            try await AttemptContext(run: 0, call: 0, attempt: 0, scheduler: client.engine.scheduler)
                .sleep(for: again.wait)
        }
    }
}

/// One run whose response is read; it is cancelled when nobody reads it any more.
private final class StreamConnection: Sendable {
    let sink: StreamSink
    private let core: RunCore
    private let scheduler: any Scheduler

    init<Element>(_ client: Client, _ response: ResponseStream<Element>, _ fields: HTTPFields) {
        let sink = StreamSink(check: response.check)
        self.sink = sink
        scheduler = client.engine.scheduler
        let plan = StreamedCall { context throws(BatonError) in try response.describe(context, sink, fields) }
        core = client.launch(plan, isCancelled: Task.isCancelled) { result in sink.finish(result) }
    }

    deinit { core.cancel() }

    func next() async throws(BatonError) -> [Data]? {
        let result: Result<[Data]?, BatonError> = await withTaskCancellationHandler {
            do throws(BatonError) {
                return .success(try await sink.next(scheduler))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            core.cancel()
        }
        return try result.get()
    }
}

private struct StreamedCall: Plan {
    typealias Output = HTTPResponse

    let describe: @Sendable (_PlanContext) throws(BatonError) -> CallDescription

    var chain: Chain<HTTPResponse> { Chain(node: .plan(self)) }

    func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode { .call(try describe(context)) }
}
