internal import Baton
internal import Foundation

/// What a request must prove before it gets a reply.
struct Challenge: Sendable {
    /// The value of `WWW-Authenticate`.
    let header: String
    /// The value of `Authorization` that is right.
    let expected: String

    func isMet(by request: LoopbackServer.ReceivedRequest) -> Bool {
        request.fields[.authorization] == expected
    }

    var refusal: LoopbackServer.Reply {
        .text("authorization is missing or wrong\n", status: 401, fields: ["WWW-Authenticate": header])
    }
}

extension LoopbackServer.Reply {
    /// The reply for requests with the right user and password, and 401 with a Basic challenge for all others.
    public func requiringBasic(user: String, password: String, realm: String = "loopback") -> Self {
        var copy = self
        let token = Data("\(user):\(password)".utf8).base64EncodedString()
        copy.challenge = Challenge(header: "Basic realm=\"\(realm)\"", expected: "Basic \(token)")
        return copy
    }

    /// The reply for requests with the right bearer token, and 401 with a Bearer challenge for all others.
    public func requiringBearer(_ token: String, realm: String = "loopback") -> Self {
        var copy = self
        copy.challenge = Challenge(header: "Bearer realm=\"\(realm)\"", expected: "Bearer \(token)")
        return copy
    }
}
