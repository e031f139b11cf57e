/// What says that a request may reach the server twice with the effect of once.
public enum Idempotency: Sendable, Hashable {
    /// Its method (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, TRACE, PUT and DELETE do, and so does a request that carries
    /// an `Idempotency-Key` of its own.
    case byMethod
    /// You: the server is known to cope with this request whatever its method.
    case marked
    /// An `Idempotency-Key` field, which is the same on each attempt, so that the server can tell a repetition. Nil,
    /// the default, has a key made up, once for each request; a field that is set already is kept.
    ///
    /// With a key, 409 says that the first one is still being worked on, and is tried again; 422 says that the key was
    /// used for something else, and is final.
    case keyed(String? = nil)

    /// Whether the request may be sent twice as far as this goes.
    package func covers(_ request: HTTPRequest) -> Bool {
        switch self {
        case .byMethod: request.method.isIdempotent || request.fields.contains(.idempotencyKey)
        case .marked, .keyed: true
        }
    }

    /// Whether the request's repetitions can be told by a key.
    package func hasKey(_ request: HTTPRequest) -> Bool {
        if case .keyed = self { true } else { request.fields.contains(.idempotencyKey) }
    }

    /// Sets the field where the request is to have one; a no-op when it has. Done to the original request, before its
    /// first attempt, so that all attempts carry the same key.
    ///
    /// - Parameters:
    ///   - number: a number that is unique in the process, drawn only when a key is made up.
    ///   - random: 64 random bits, drawn twice, and only when a key is made up.
    package func stamp(_ request: inout HTTPRequest, number: () -> UInt64, random: () -> UInt64) {
        guard case .keyed(let key) = self, !request.fields.contains(.idempotencyKey) else { return }
        request.fields[.idempotencyKey] = key ?? Self.makeKey(number: number(), random: random)
    }

    /// A key of 48 hexadecimal digits: the number, which keeps keys of one process apart, and 128 random bits, which
    /// keep processes apart.
    package static func makeKey(number: UInt64, random: () -> UInt64) -> String {
        hex(number) + hex(random()) + hex(random())
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
