#if os(Linux)
    import BatonTesting
    import Dispatch
    import Foundation
    import Testing

    @testable import Baton

    /// What of the system a process has in use.
    enum SystemUse {
        static func entries(_ path: String) -> Int {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).count
        }

        /// A line of `/proc/self/status`, in kilobytes.
        static func kilobytes(_ name: String) -> Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
        }
    }

    /// Starts and cancels at once, again and again. It runs in a process of its own, because a trap cannot be caught.
    enum CancelStorm {
        static func run(_ makeTransport: () throws -> any Transport) async throws {
            let server = try LoopbackServer(recording: .count)
            server.onAnyMethod("/", .text("live"))
            server.onAnyMethod("/401", .status(401))
            // A port where nobody listens: it was somebody's, and is not any more.
            let closed = try LoopbackServer()
            closed.stop()
            try await rounds(8, server.baseURL, try makeTransport())
            let (descriptors, threads) = (SystemUse.entries("/proc/self/fd"), SystemUse.entries("/proc/self/task"))
            try await rounds(Scale.count(10_000, everyday: 600), closed.baseURL, try makeTransport())
            try await rounds(Scale.count(2_000, everyday: 300), server.baseURL, try makeTransport())
            await server.wait { $0.openConnections == 0 }
            // Dispatch keeps threads for a while, as many as were busy at once. A thread or a descriptor that each round
            // or each client left behind would be hundreds.
            if SystemUse.entries("/proc/self/fd") <= descriptors + 16,
                SystemUse.entries("/proc/self/task") <= threads + 80
            {
                return
            }
            fatalError(
                "descriptors \(descriptors) to \(SystemUse.entries("/proc/self/fd")), threads \(threads) to \(SystemUse.entries("/proc/self/task"))"
            )
        }

        private static func rounds(_ count: Int, _ url: String, _ transport: any Transport) async throws {
            let client = Client(baseURL: url, transport: transport, retry: .none)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 0..<count {
                    if round >= 16 { try await group.next() }
                    group.addTask { await once(round, client) }
                }
                try await group.waitForAll()
            }
            // Every slot comes back, that of a transport which does not end an exchange after a second.
            while client.counts.inFlight > 0 { await Task.yield() }
            transport.shutdown()
        }

        private static func once(_ round: Int, _ client: Client) async {
            let call = Call<HTTPResponse>(round % 5 == 0 ? "/401" : "/", method: round % 3 == 0 ? .post : .get)
            switch round % 4 {
            case 0:
                // The callback's API.
                await withCheckedContinuation { continuation in
                    let run = client.start(call, on: .global()) { _ in continuation.resume() }
                    cancel(run, round)
                }
            case 1:
                let task = Task { _ = try? await client.run(call) }
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(round % 2_000)) { task.cancel() }
                await task.value
            default:
                let run = client.start(call)
                cancel(run, round)
                _ = await run.outcome
                // After the end it does nothing.
                run.cancel()
            }
        }

        private static func cancel<Output>(_ run: Run<Output>, _ round: Int) {
            if round % 7 == 0 { return run.cancel() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(round * 37 % 2_000)) { run.cancel() }
        }
    }

    @Suite("Starting and cancelling at once, in a process of its own", .serialized, .timeLimit(.minutes(5)))
    struct CancelStormTests {
        @Test("X67 X69 Rounds of starting and cancelling all end over curl, and leave nothing behind")
        func curl() async {
            await #expect(processExitsWith: .success) {
                try await CancelStorm.run {
                    var configuration = CurlTransport.Configuration()
                    configuration.proxy = .none
                    return try CurlTransport(configuration: configuration)
                }
            }
        }

        @Test("X67 X69 Rounds of starting and cancelling all end over URLSession, and leave nothing behind")
        func urlSession() async {
            await #expect(processExitsWith: .success) { try await CancelStorm.run { URLSessionTransport() } }
        }

        @Test("100 MB from and to a file need less than 40 MB of memory")
        func memory() async {
            await #expect(processExitsWith: .success) {
                let length: Int64 = 100_000_000
                let server = try LoopbackServer(recording: .count)
                server.on(.get, "/file", .pattern(length: length))
                server.on(.put, "/file", .status(204), body: .discarded)
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                let client = Client(
                    baseURL: server.baseURL, transport: try CurlTransport(configuration: configuration), retry: .none)
                let folder = try Folder()
                _ = try await client.run(Send(method: .put, path: "/file", body: .text("warm")))
                let before = SystemUse.kilobytes("VmRSS")
                let file = try await client.run(GetFile().download(to: folder.file("x")))
                precondition(file.byteCount == length)
                _ = try await client.run(Send(method: .put, path: "/file", body: .file(file.url)))
                // The most that it ever was.
                let grown = SystemUse.kilobytes("VmHWM") - before
                precondition(grown < 40_000, "grown by \(grown) kB")
            }
        }
    }

    @Suite("CurlTransport under mutated responses", .timeLimit(.minutes(5)))
    struct CurlFuzzTests {
        private static let seeds = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n",
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.0 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nSet-Cookie: a=1\r\nFold: a\r\n b\r\n\r\nrest",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n\u{1f}\u{8b}\u{8}",
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno",
        ].map { Array($0.utf8) }

        private static func input(_ seed: UInt64) -> Data {
            var generator = SeededGenerator(seed: seed)
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes = Array(bytes.prefix(max(1, place)))
                case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
                default: bytes[place] = [10, 13, 32, 58, 48, 57, 0].randomElement(using: &generator) ?? 0
                }
            }
            return Data(bytes)
        }

        @Test("Whatever a server answers ends in one response or one error")
        func mutated() async throws {
            let bench = try CurlBench(recording: .count)
            bench.server.on(.get, "/f") { request in
                .raw(Self.input(UInt64(request.query ?? "") ?? 0))
            }
            let count = Scale.count(5_000, everyday: 500)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 0..<count {
                    if seed >= 8 { try await group.next() }
                    group.addTask {
                        let probe = CurlProbe()
                        _ = bench.transport.send(bench.request(.get, "/f?\(seed)"), to: TransportReceiver(probe))
                        let state = await probe.end()
                        if state.ends != 1 || state.afterEnd != 0
                            || (state.error == nil) != (state.head != nil) && state.error == nil
                        {
                            Issue.record("seed \(seed): \(state.ends) ends, \(state.afterEnd) after the end")
                        }
                    }
                }
                try await group.waitForAll()
            }
            await bench.close()
        }
    }
#endif
