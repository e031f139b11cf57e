/// A real HTTP/1.1 server for tests, on 127.0.0.1 and a port of its own.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.on(.get, "/orders/7", .json(#"{"total": 3}"#))
/// server.on(.get, "/orders/*") { request in .text(request.path) }
/// server.on(.post, "/jobs", [.status(503), .status(200)])
/// // … send requests to server.baseURL …
/// server.requests.map(\.path)
/// server.stop()
/// ```
/// It runs on one thread, keeps connections open, and answers what no route matches with 404. It stops when it is
/// told to, and when it is released.
public final class LoopbackServer: Sendable {
    /// The port that the system chose.
    public let port: Int

    let state: ServerState
    private let waker: Waker
    private let thread: LoopThread

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - recording: what is remembered of the requests. The default is all of it.
    ///   - socketBufferBytes: the size of the system's buffers for each connection, in bytes; nil leaves it to the
    ///     system. A small one makes backpressure felt early.
    /// - Throws: an error that says which system call failed.
    public init(recording: Recording = .all, socketBufferBytes: Int? = nil) throws {
        let waker = try Waker()
        let state = ServerState(recording: recording)
        let listener: (descriptor: Int32, port: Int)
        do {
            listener = try Socket.listen()
        } catch {
            waker.closePipe()
            throw error
        }
        self.waker = waker
        self.state = state
        port = listener.port
        do {
            thread = try LoopThread {
                EventLoop(listener.descriptor, waker, state, bufferBytes: socketBufferBytes).run()
            }
        } catch {
            waker.closePipe()
            Socket.closeNow(listener.descriptor)
            throw error
        }
    }

    deinit {
        stop()
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Closes the listener and every connection, ends every wait, forgets the routes, and returns when the thread
    /// has ended. Called from a handler, it returns at once. Every call after the first does nothing.
    public func stop() {
        guard state.stop() else { return }
        waker.wake()
        thread.join()
        state.removeRoutes()
    }
}
