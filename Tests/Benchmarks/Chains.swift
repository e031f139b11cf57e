import Baton

/// Chains, and what people write in their place.
enum Chains {
    static func immediate(_ steps: Int) async -> Bool {
        var chain = Chain.value(0)
        for _ in 0..<steps { chain = chain.then { Chain.value($0 + 1) } }
        return (try? await Client(transport: InlineTransport()).run(chain)) == steps
    }

    static func map(_ steps: Int) async -> Bool {
        var chain = Chain.value(0)
        for _ in 0..<steps { chain = chain.map { $0 + 1 } }
        return (try? await Client(transport: InlineTransport()).run(chain)) == steps
    }

    static func requests(_ steps: Int, _ transport: any Transport) async -> Bool {
        var chain = Ping().map { _ in 1 }
        for _ in 1..<steps { chain = chain.then { count in Ping().map { _ in count + 1 } } }
        let client = Client(baseURL: "http://bench.example", transport: transport)
        return (try? await client.run(chain)) == steps
    }

    /// An array of asynchronous closures, awaited one after the other.
    static func closures(_ steps: Int) async -> Bool {
        var closures: [@Sendable (Int) async throws -> Int] = []
        for _ in 0..<steps { closures.append { $0 + 1 } }
        var value = 0
        for closure in closures { value = (try? await closure(value)) ?? value }
        return value == steps
    }

    /// A continuation for each request, awaited one after the other.
    static func continuations(_ steps: Int, _ transport: any Transport) async -> Bool {
        var count = 0
        for _ in 0..<steps {
            let result = await withCheckedContinuation { continuation in
                _ = transport.send(
                    Bare.request(), to: TransportReceiver(Callback { continuation.resume(returning: $0) }))
            }
            if case .success = result { count += 1 }
        }
        return count == steps
    }
}
