import Baton
import BatonTesting
import Testing

@Suite("Waiting for the network") struct WaitForNetworkTests {
    private let mock = MockTransport()
    private let network = ManualReachability(isReachable: false)

    @Test("Attempts are held back until there is a network, without a slot")
    func heldBack() async throws {
        mock.on(pattern: "/items/*").reply { .item(for: $0) }
        let wait = WaitForNetwork(network)
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [wait]
                $0.maxConcurrency = 1
            }
        ) { [network, mock] client, clock in
            let run = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(10))
            #expect(network.waiting == 1)
            #expect(client.counts.inFlight == 0)
            network.set(isReachable: true)
            #expect(try await run.value == Item(n: 1))
            #expect(mock.calls.count == 1)
        }
    }

    @Test("After the longest wait the request fails, and a cancelled one ends at once")
    func noNetwork() async throws {
        let wait = WaitForNetwork(network, upTo: .seconds(30))
        try await withVirtualTime(transport: mock, configure: { $0.interceptors = [wait] }) {
            [mock, network] client, clock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .notReachable)
            #expect(clock.elapsed == .seconds(30))
            let run = client.start(GetItem(n: 2))
            try await clock.sleep(for: .seconds(1))
            run.cancel()
            #expect(try await failure { try await run.value }.isCancelled)
            #expect(clock.elapsed == .seconds(31))
            #expect(mock.calls.isEmpty)
            await clock.settle()
            #expect(network.waiting == 0)
        }
    }

    @Test("What failed because the network went is sent again when it is back")
    func again() async throws {
        let network = network
        network.set(isReachable: true)
        mock.on(pattern: "/items/*").reply(times: 1) { (_: HTTPRequest) throws -> HTTPResponse in
            network.set(isReachable: false)
            throw BatonError(.connectionLost, "said the test")
        }.reply { .item(for: $0) }
        try await withVirtualTime(transport: mock, configure: { $0.interceptors = [WaitForNetwork(network)] }) {
            [mock] client, clock in
            let run = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(5))
            network.set(isReachable: true)
            #expect(try await run.value == Item(n: 1))
            #expect(mock.calls.count == 2)
        }
    }
}
