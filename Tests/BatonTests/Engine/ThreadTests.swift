import Baton
import Dispatch
import Foundation
import Testing

@testable import Baton

@Suite("Threads and isolation")
struct ThreadTests {
    @Test("X66: 1,000 pending requests block no thread, and probes on Dispatch run meanwhile")
    func pending() async throws {
        // In a process of its own, because other tests that run beside this one have threads too.
        await #expect(processExitsWith: .success) {
            let transport = HeldTransport()
            let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 100 }
            let before = Threads.count
            let reads = LockBox(0)
            let ended = Countdown(1_000)
            for n in 0..<1_000 {
                client.start(GetItem(n: n), on: .global()) { _ in
                    // Reading the state from a callback waits for no queue of the library's.
                    let counts = client.counts
                    reads.withLock { $0 += counts.inFlight >= 0 ? 1 : 0 }
                    ended()
                }
            }
            await transport.hasSent(100)
            let probes = Countdown(50)
            let waits = Record<Duration>()
            for _ in 0..<50 {
                let asked = ContinuousClock.now
                DispatchQueue.global().async {
                    waits.add(ContinuousClock.now - asked)
                    probes()
                }
            }
            #expect(await probes.gate.opens(within: 10))
            // The median, because the machine may do other things.
            #expect(waits.all.sorted()[25] < .milliseconds(100))
            if let before, let now = Threads.count { #expect(now < before + 64, "\(before), then \(now)") }
            for number in 0..<1_000 {
                await transport.hasSent(number + 1)
                transport.reply(to: number)
            }
            #expect(await ended.gate.opens())
            #expect(reads.withLock { $0 } == 1_000)
            #expect(transport.most == 100)
        }
    }

    @Test("X65: closures written in code of the main actor are called off it, and the completion on it")
    @MainActor
    func isolation() async throws {
        // State of the main actor: what compiles here shows which closures may touch it.
        var label = ""
        let places = Record<String>()
        let client = Client(
            baseURL: "http://h", transport: QueueTransport(),
            interceptors: [ClosureAdapter { _, _ in places.add("adapter \(Thread.isMainThread)") }])
        let done = Gate()
        let chain = GetItem(n: 1)
            .then { item in
                places.add("derive \(Thread.isMainThread)")
                return GetItem(n: item.n)
            }
            .then { item async throws in
                places.add("async derive")
                return GetItem(n: item.n)
            }
            .map { item in
                places.add("map \(Thread.isMainThread)")
                return item
            }
        let plan = chain.then { item in
            Batch([GetItem(n: item.n), GetItem(n: 404)])
                .onEach { _, _ in places.add("onEach \(Thread.isMainThread)") }
                .reconnect { _ in
                    places.add("reconnect \(Thread.isMainThread)")
                    return .accept
                }
        }
        client.start(plan) { result in
            MainActor.assertIsolated()
            label = (try? result.get()).map { "\($0.count)" } ?? "failed"
            done.open()
        }
        #expect(await done.opens())
        #expect(label == "2")
        #expect(!places.all.contains { $0.hasSuffix("true") })
        #expect(places.all.contains("onEach false"))
    }

    @Test("X65: a completion on a queue of the caller's needs no main queue")
    func ownQueue() async {
        let done = Gate()
        let isMain = Record<Bool>()
        Client(baseURL: "http://h", transport: QueueTransport())
            .start(GetItem(n: 1), on: DispatchQueue(label: "test.own")) { _ in
                isMain.add(Thread.isMainThread)
                done.open()
            }
        #expect(await done.opens())
        #expect(isMain.all == [false])
    }

    @Test("Closures run on a transport's threads where it shares them, and nowhere near them otherwise")
    func sharedThreads() async throws {
        for (threads, isThere) in [(CallbackThreads.own, false), (.shared, true)] {
            let places = Record<Bool>()
            let client = Client(baseURL: "http://h", transport: QueueTransport(callbackThreads: threads))
            let chain = (1...50).reduce(GetItem(n: 0).chain) { chain, n in
                chain.then { _ in
                    places.add(QueueTransport.isCurrent)
                    return GetItem(n: n)
                }
            }
            #expect(try await client.run(chain).n == 50)
            #expect(places.all == Array(repeating: isThere, count: 50))
        }
    }

    enum Place: CaseIterable, Sendable {
        case send, cancelOfTransport, observer, adapter, derive, map, onEach, reconnect, input, completion
    }

    @Test(
        "Invariant 6: nothing is locked while user code or the transport is called: another thread gets at all of it",
        arguments: Place.allCases)
    func noLock(place: Place) async throws {
        let seen = Record<Bool>()
        let box = LockBox<(client: Client?, cancel: (@Sendable () -> Void)?)>((nil, nil))
        /// Lets another thread use everything that has a lock, and waits for it.
        let probe: @Sendable () -> Void = {
            let (client, cancel) = box.withLock { $0 }
            guard let client else { return }
            let gate = Gate()
            DispatchQueue.global().async {
                _ = client.counts
                for run in client.engine.activeRuns { _ = run.progress }
                let other = client.start(GetItem(n: 2).then { GetItem(n: $0.n) })
                other.cancel()
                cancel?()
                gate.open()
            }
            seen.add(gate.blocks(within: 10))
        }
        final class Probing: Transport {
            let (place, probe, isFirst): (Place, @Sendable () -> Void, LockBox<Bool>)
            init(_ place: Place, _ probe: @escaping @Sendable () -> Void) {
                (self.place, self.probe, isFirst) = (place, probe, LockBox(true))
            }
            func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if isFirst, place == .send { probe() }
                if isFirst, place == .cancelOfTransport { return Handle(receiver, probe) }
                receiver.complete(request.number == 404 ? .status(404) : .item(for: request))
                return FinishedTransmission.shared
            }
            final class Handle: Transmission {
                let (receiver, probe): (TransportReceiver, @Sendable () -> Void)
                init(_ receiver: TransportReceiver, _ probe: @escaping @Sendable () -> Void) {
                    (self.receiver, self.probe) = (receiver, probe)
                }
                func cancel() {
                    probe()
                    receiver.fail(BatonError(.cancelled))
                }
            }
        }
        struct Watcher: EventObserver {
            let (probe, isFirst): (@Sendable () -> Void, LockBox<Bool>)
            func observe(_ event: Event) {
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if isFirst { probe() }
            }
        }
        let adapted = LockBox(true)
        let client = Client(
            baseURL: "http://h", transport: Probing(place, probe), retry: .none,
            interceptors: place == .adapter
                ? [
                    ClosureAdapter { _, _ in
                        let isFirst = adapted.withLock { adapted in
                            defer { adapted = false }
                            return adapted
                        }
                        if isFirst { probe() }
                    }
                ] : [],
            observers: place == .observer ? [Watcher(probe: probe, isFirst: LockBox(true))] : [])
        box.withLock { $0.client = client }
        let ended = Gate()
        @Sendable func at(_ here: Place) { if here == place { probe() } }
        let plan = GetItem(n: 1)
            .then { item in
                at(.derive)
                return GetItem(n: item.n)
            }
            .map { item in
                at(.map)
                return item.n
            }
            .then { n in
                Batch(
                    Made(2) { index in
                        at(.input)
                        return GetItem(n: index == 0 ? n : 404)
                    }
                )
                .onEach { _, _ in at(.onEach) }
                .reconnect { _ in
                    at(.reconnect)
                    return .accept
                }
            }
        let run = client.start(plan, on: .global()) { _ in
            at(.completion)
            ended.open()
        }
        box.withLock { $0.cancel = { run.cancel() } }
        if place == .cancelOfTransport { run.cancel() }
        #expect(await ended.opens())
        box.withLock { $0 = (nil, nil) }
        #expect(seen.all.allSatisfy { $0 })
    }
}
