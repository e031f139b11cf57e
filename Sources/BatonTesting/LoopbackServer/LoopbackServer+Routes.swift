public import Baton

extension LoopbackServer {
    /// Answers requests with this method and path with a reply, each time the same.
    ///
    /// A path is compared as it was sent, not decoded. Without a query it matches whatever the query is; with one,
    /// only that very target. A segment `*` stands for one segment, a last segment `**` for any number of them.
    /// A route with the same method and path takes the place of an earlier one; one without wildcards comes before
    /// patterns, and a later pattern before an earlier one. HEAD is answered by the route for GET unless it has
    /// one of its own.
    public func on(_ method: HTTPMethod, _ path: String, _ reply: Reply, body: BodyPolicy = .kept) {
        state.addRoute(method, path, body, .replies([PreparedReply(reply)]))
    }

    /// Answers requests with this method and path with replies in order; the last one stays.
    public func on(_ method: HTTPMethod, _ path: String, _ replies: [Reply], body: BodyPolicy = .kept) {
        state.addRoute(method, path, body, .replies(replies.map(PreparedReply.init)))
    }

    /// Answers requests with this method and path with what the closure returns.
    ///
    /// - Parameter respond: called on the server's thread, one request at a time. It must not block. If it uses
    ///   the server, it should hold it weakly; the server lets go of it when it stops.
    public func on(
        _ method: HTTPMethod, _ path: String, body: BodyPolicy = .kept,
        _ respond: @escaping @Sendable (ReceivedRequest) -> Reply
    ) {
        state.addRoute(method, path, body, .closure(respond))
    }

    /// Answers requests with this path and any method that has no route of its own with a reply.
    public func onAnyMethod(_ path: String, _ reply: Reply, body: BodyPolicy = .kept) {
        state.addRoute(nil, path, body, .replies([PreparedReply(reply)]))
    }

    /// Answers requests with this path and any method that has no route of its own with what the closure returns.
    ///
    /// - Parameter respond: called on the server's thread, one request at a time. It must not block.
    public func onAnyMethod(
        _ path: String, body: BodyPolicy = .kept, _ respond: @escaping @Sendable (ReceivedRequest) -> Reply
    ) {
        state.addRoute(nil, path, body, .closure(respond))
    }

    /// Answers the next request with a reply, whatever its path. Replies that are enqueued come before routes, in
    /// the order in which they were enqueued.
    public func enqueue(_ replies: Reply...) {
        state.enqueue(replies.map(PreparedReply.init))
    }

    /// Answers requests with this method and path with a reply that waits until the gate is released.
    public func hold(
        _ method: HTTPMethod, _ path: String, _ reply: Reply = .status(200), body: BodyPolicy = .kept
    ) -> Gate {
        let gate = Gate()
        on(method, path, reply.held(by: gate), body: body)
        return gate
    }

    /// Forgets every route and every reply that is enqueued.
    public func removeRoutes() {
        state.removeRoutes()
    }
}
