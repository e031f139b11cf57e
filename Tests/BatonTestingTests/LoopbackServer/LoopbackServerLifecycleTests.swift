import Baton
import BatonTesting
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("The loopback server starts, waits and stops")
struct LoopbackServerLifecycleTests {
    @Test("Stopping closes the connections that are open, ends every wait, and can be repeated")
    func stop() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/stall", .stall)
        server.on(.get, "/late", .text("late").delayed(by: .seconds(600)))
        server.on(.get, "/big", .pattern(length: 1_000_000_000))
        let gate = server.hold(.get, "/held")
        let clients = try ["/stall", "/late", "/big", "/held", "/none"].map { path in
            let client = try RawClient(server)
            if path != "/none" { try client.send("GET \(path) HTTP/1.1\r\n\r\n") }
            return client
        }
        await server.waitForRequests(4)
        server.stop()
        server.stop()
        gate.release()
        for client in clients { _ = try client.readToEnd() }
        #expect(server.activity.openConnections == 0)
        #expect(server.requests.count == 4)
        await server.waitForRequests(100)
        await server.wait { _ in false }
        #expect(throws: RawClient.Failure.self) { try RawClient(server) }
    }

    @Test("A server that is released stops")
    func released() throws {
        var server: LoopbackServer? = try LoopbackServer()
        let client = try RawClient(#require(server))
        server = nil
        #expect(try client.readToEnd().data.isEmpty)
    }

    @Test("A handler may stop its server")
    func stopFromHandler() throws {
        let server = try LoopbackServer()
        server.on(.get, "/stop") { [weak server] _ in
            server?.stop()
            return .text("bye")
        }
        let client = try RawClient(server)
        #expect(try client.get("/stop").text == "bye")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test("A stopped server keeps nothing of its routes alive")
    func releasesRoutes() throws {
        final class Token: Sendable {}
        var token: Token? = Token()
        weak let observer = token
        let server = try LoopbackServer()
        server.on(.get, "/a") { [token] _ in withExtendedLifetime(token) { .text("a") } }
        token = nil
        #expect(observer != nil)
        server.stop()
        #expect(observer == nil)
    }

    @Test("Those who wait are served by count, and all at once when it is reached")
    func waiting() async throws {
        let server = try LoopbackServer()
        let client = try RawClient(server)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { await server.waitForRequests(3).count } }
            group.addTask {
                await server.wait { $0.requests >= 3 && $0.connections == 1 }
                return 3
            }
            for _ in 0..<3 { _ = try? client.get("/a") }
            for await count in group { #expect(count == 3) }
        }
    }

    @Test("A wait ends when its task is cancelled, before it begins or later")
    func cancelledWait() async throws {
        let server = try LoopbackServer()
        let tasks = (0..<50).map { index in
            Task {
                if index % 2 == 0 { await server.waitForRequests(1) } else { await server.wait { _ in false } }
            }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    @Test("Many connections are served at once")
    func manyConnections() throws {
        let server = try LoopbackServer()
        server.on(.get, "/*") { .text($0.path) }
        let clients = try (0..<200).map { _ in try RawClient(server) }
        for round in 0..<3 {
            for (index, client) in clients.enumerated() { try client.send("GET /\(index)-\(round) HTTP/1.1\r\n\r\n") }
            for (index, client) in clients.enumerated() {
                #expect(try client.readReply().text == "/\(index)-\(round)")
            }
        }
        #expect(server.activity.openConnections == 200)
    }

    #if os(Linux) && canImport(Glibc)
        @Test("A server that finds no free descriptor goes on when there is one again")
        func noDescriptorLeft() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer()
                server.on(.get, "/a", .text("a"))
                let second = try RawClient(server)
                _ = try second.get("/a")
                // Takes every descriptor, and gives one back for the client's end of a further connection.
                var limit = rlimit(rlim_cur: 64, rlim_max: 64)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                var hoard: [Int32] = []
                while case let descriptor = dup(0), descriptor >= 0 { hoard.append(descriptor) }
                close(hoard.removeLast())
                let third = try RawClient(server)
                try third.send("GET /a HTTP/1.1\r\n\r\n")
                for _ in 0..<10 { try #require(try second.get("/a").text == "a") }
                try #require(server.activity.connections == 1)
                for descriptor in hoard { close(descriptor) }
                try #require(try third.readReply().text == "a")
            }
        }

        @Test("500 servers come and go and leave neither thread nor descriptor behind")
        func leavesNothing() async {
            await #expect(processExitsWith: .success) {
                func count(_ folder: String) -> Int {
                    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? -1
                }
                func useOne(_ number: Int) throws {
                    let server = try LoopbackServer()
                    let client = try RawClient(server)
                    if number % 2 == 0 { _ = try client.get("/a") }
                    if number % 3 == 0 { server.stop() }
                    withExtendedLifetime(client) {}
                }
                try useOne(0)
                let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"))
                for number in 0..<500 { try useOne(number) }
                // A thread that was joined may show for a moment more, and the process has a few of its own.
                var looks = 0
                while count("/proc/self/task") > threads + 5, looks < 100_000 { looks += 1 }
                try #require(count("/proc/self/task") <= threads + 5)
                try #require(count("/proc/self/fd") <= descriptors + 5)
            }
        }
    #endif
}
