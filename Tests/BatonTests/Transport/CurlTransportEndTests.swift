#if os(Linux)
    import BatonTesting
    import Foundation
    import Testing

    @testable import Baton

    @Suite("CurlTransport: failures, cancelling, closing", .timeLimit(.minutes(2)))
    struct CurlTransportEndTests {
        typealias Reply = LoopbackServer.Reply

        @Test(
            "names failures",
            arguments: [
                ("/truncated", .connectionLost), ("/reset", .connectionLost), ("/closed", .connectionLost),
                ("/midbody", .connectionLost), ("/nochunk", .connectionLost), ("/garbage", .invalidResponse),
                ("/badchunk", .invalidResponse), ("/badlength", .invalidResponse), ("/badgzip", .invalidResponse),
                ("/hugehead", .invalidResponse),
            ] as [(String, BatonError.Code)])
        func failures(path: String, code: BatonError.Code) async throws {
            let bench = try CurlBench()
            let server = bench.server
            server.on(.get, "/truncated", .text("abc").claiming(contentLength: 10).closing())
            server.on(.get, "/reset", .broken(.reset))
            server.on(.get, "/closed", .broken(.close))
            server.on(.get, "/midbody", Reply.pattern(length: 200_000).broken(.reset, at: .midBody))
            server.on(.get, "/nochunk", Reply.chunks(["abc"]).withoutLastChunk())
            server.on(.get, "/garbage", .garbage)
            server.on(.get, "/badchunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"))
            server.on(.get, "/badlength", .raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc"))
            server.on(
                .get, "/badgzip",
                .raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nabcabcabc"))
            server.on(.get, "/hugehead", Reply.text("x").padded(headBytes: 400_000))
            let error = await bench.failure(bench.request(.get, "\(path)?token=secret"))
            #expect(error?.code == code, "\(error as Any)")
            #expect(error.map { !"\($0)".contains("secret") } == true)
            #expect(error?.request == "GET \(server.baseURL)\(path)")
            await bench.close()
        }

        @Test("delivers what was received before a failure")
        func partial() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .text("abc", status: 500).claiming(contentLength: 10).closing())
            let probe = CurlProbe()
            _ = bench.transport.send(bench.request(), to: TransportReceiver(probe))
            let state = await probe.end()
            #expect(state.error?.code == .connectionLost)
            #expect(state.head?.status == 500)
            #expect(state.body == Data("abc".utf8))
            await bench.close()
        }

        @Test("says when nobody listens, and when a host has no address")
        func noServer() async throws {
            let bench = try CurlBench()
            let request = bench.request()
            bench.server.stop()
            #expect(await bench.failure(request)?.code == .cannotConnect)
            let nowhere = try HTTPOrigin.split("http://nowhere.invalid").0
            #expect(await bench.failure(HTTPRequest(origin: nowhere, target: "/"))?.code == .cannotFindHost)
            await bench.close()
        }

        @Test(
            "refuses what may not be sent",
            arguments: [
                ("GET", "relative"), ("GE T", "/"), ("", "/"), ("GET", "/a b"),
            ])
        func refused(method: String, target: String) async throws {
            let bench = try CurlBench()
            let error = await bench.failure(bench.request(HTTPMethod(rawValue: method), target))
            #expect(error?.code == .invalidRequest)
            #expect(bench.server.activity.connections == 0)
            await bench.close()
        }

        @Test(
            "does not send again what is not idempotent when a kept connection breaks",
            arguments: [
                (HTTPMethod.post, 2), (.get, 3),
            ])
        func resend(method: HTTPMethod, sent: Int) async throws {
            let bench = try CurlBench()
            bench.server.onAnyMethod("/warm", .text("x"))
            bench.server.onAnyMethod("/", .broken(.close))
            _ = try await bench.run(bench.request(.get, "/warm"))
            #expect(await bench.failure(bench.request(method, "/"))?.code == .connectionLost)
            #expect(bench.server.activity.requests == sent)
            await bench.close()
        }

        @Test(
            "ends a cancelled exchange once, whatever it was doing", arguments: ["/stall", "/head", "/body", "/upload"])
        func cancel(path: String) async throws {
            let bench = try CurlBench()
            let gate = LoopbackServer.Gate()
            bench.server.on(.post, "/stall", .stall)
            bench.server.on(.post, "/head", Reply.text("abc").held(by: gate, at: .bodyByte(0)))
            bench.server.on(.post, "/body", Reply.text("abc").held(by: gate, at: .bodyByte(1)))
            bench.server.on(.post, "/upload", .text("abc"))
            let pipe = PipeBody()
            let body: HTTPBody = path == "/upload" ? .stream(HTTPBodyStream(isReplayable: false) { pipe }) : .text("x")
            let probe = CurlProbe()
            let transmission = bench.transport.send(
                bench.request(.post, path, body: body), to: TransportReceiver(probe))
            switch path {
            case "/stall": await bench.server.waitForRequests(1)
            case "/head", "/body": await probe.wait { $0.head != nil }
            default:
                pipe.put("abc")
                await probe.wait { !$0.sent.isEmpty }
            }
            transmission.cancel()
            transmission.cancel()
            let state = await probe.end()
            #expect(state.error?.code == .cancelled)
            transmission.cancel()
            transmission.resume()
            pipe.put("late")
            await bench.close()
            #expect(probe.state.ends == 1)
            #expect(probe.state.afterEnd == 0)
            #expect(pipe.closes == (path == "/upload" ? 1 : 0))
        }

        @Test("ends once when cancels race with replies")
        func cancelRace() async throws {
            let bench = try CurlBench(recording: .count)
            bench.server.on(.get, "/", .text("x"))
            var probes: [CurlProbe] = []
            for index in 0..<2_000 {
                let probe = CurlProbe()
                probes.append(probe)
                let transmission = bench.transport.send(bench.request(), to: TransportReceiver(probe))
                if index % 3 == 0 { transmission.cancel() }
                if index % 3 == 1 { Task.detached { transmission.cancel() } }
                if index % 64 == 63 { _ = await probe.end() }
            }
            for probe in probes {
                let state = await probe.end()
                #expect(state.error == nil || state.error?.code == .cancelled)
            }
            await bench.close()
            #expect(probes.allSatisfy { $0.state.ends == 1 && $0.state.afterEnd == 0 })
        }

        @Test("may be cancelled and asked for more from within its receivers")
        func reentrant() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .pattern(length: 5_000_000))
            let next = CurlProbe()
            let box = LockBox<(any Transmission)?>(nil)
            let request = bench.request()
            let transport = bench.transport
            let probe = CurlProbe(onEvent: { probe in
                if probe.state.chunks == 2 { box.withLock { $0 }?.cancel() }
                if probe.state.ends == 1 { _ = transport.send(request, to: TransportReceiver(next)) }
            })
            let transmission = bench.transport.send(request, to: TransportReceiver(probe))
            box.withLock { $0 = transmission }
            _ = await probe.end()
            #expect(await next.end().body.count == 5_000_000)
            await bench.close()
        }

        @Test("fails what is open at shutdown, and what comes later")
        func shutdown() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .stall)
            let open = CurlProbe()
            _ = bench.transport.send(bench.request(), to: TransportReceiver(open))
            await bench.server.waitForRequests(1)
            bench.transport.shutdown()
            bench.transport.shutdown()
            #expect(await bench.failure(bench.request())?.code == .transportClosed)
            #expect(await open.end().error?.code == .transportClosed)
            await bench.close()
            #expect(open.state.ends == 1)
        }

        @Test("finishes what is open when it is released")
        func released() async throws {
            let server = try LoopbackServer()
            let gate = server.hold(.get, "/", .text("x"))
            let probe = CurlProbe()
            let closed = LockBox(false)
            let done = CurlProbe()
            do {
                let transport = try CurlTransport()
                transport.whenClosed {
                    closed.withLock { $0 = true }
                    done.receiveEnd(nil, token: 0)
                }
                let origin = try HTTPOrigin.split(server.baseURL).0
                _ = transport.send(HTTPRequest(origin: origin, target: "/"), to: TransportReceiver(probe))
                await server.wait { $0.bytesReceived > 0 }
            }
            #expect(!closed.withLock { $0 })
            gate.release()
            #expect(await probe.end().body == Data("x".utf8))
            _ = await done.end()
            server.stop()
        }

        @Test("closes without a thread when it was never used")
        func unused() async throws {
            let transport = try CurlTransport()
            transport.shutdown()
            await withCheckedContinuation { continuation in transport.whenClosed { continuation.resume() } }
        }

        @Test("says what is missing when libcurl is", arguments: ["libnothere.so.9", "libc.so.6"])
        func missing(name: String) {
            #expect(CurlTransport.isAvailable)
            let error = #expect(throws: BatonError.self) {
                try CurlTransport(configuration: .init(), library: CurlLibrary.open([name]))
            }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains(name) == true)
        }

        @Test("refuses a configuration that cannot work")
        func configuration() {
            var configuration = CurlTransport.Configuration()
            configuration.maxIdleConnections = 0
            #expect(throws: BatonError.self) { try CurlTransport(configuration: configuration) }
            configuration = .init()
            configuration.pinnedPublicKeys = ["abc"]
            #expect(throws: BatonError.self) { try CurlTransport(configuration: configuration) }
        }
    }
#endif
