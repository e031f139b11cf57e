/// A transport made of one closure from request to response.
///
/// ```swift
/// let transport = BufferedTransport { request in
///     HTTPResponse(status: 200, body: Data(request.path.utf8))
/// }
/// ```
/// The closure runs in a Swift task of its own, which is cancelled with the request. Bodies that are streams reach
/// it as streams. An error that is no `BatonError` becomes `transportFailed`.
public struct BufferedTransport: Transport {
    private let respond: @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// A transport that answers with what the closure returns.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.respond = respond
    }

    public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        TaskTransmission(
            Task { [respond] in
                do {
                    receiver.complete(try await respond(request))
                } catch {
                    receiver.fail(.wrapping(error, as: .transportFailed, "the transport's closure threw an error"))
                }
            })
    }

    private final class TaskTransmission: Transmission {
        private let task: Task<Void, Never>
        init(_ task: Task<Void, Never>) { self.task = task }
        func cancel() { task.cancel() }
    }
}
