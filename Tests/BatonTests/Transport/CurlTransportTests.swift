#if os(Linux)
    import BatonTesting
    import Foundation
    import Testing

    @testable import Baton

    @Suite("CurlTransport", .timeLimit(.minutes(2)))
    struct CurlTransportTests {
        typealias Echo = LoopbackServer.Echo

        @Test(
            "sends each method, with a length of nought where a body is expected and absent",
            arguments: [
                ("GET", nil), ("DELETE", nil), ("OPTIONS", nil), ("POST", "0"), ("PUT", "0"), ("PATCH", "0"),
                ("PURGE", nil),
            ] as [(String, String?)])
        func methods(method: String, length: String?) async throws {
            let bench = try CurlBench()
            bench.server.onAnyMethod("/m", .echo)
            for _ in 0..<2 {
                let response = try await bench.run(bench.request(HTTPMethod(rawValue: method), "/m?a=%20b"))
                let echo = try JSONDecoder().decode(Echo.self, from: response.body)
                #expect(echo.method == method)
                #expect(echo.target == "/m?a=%20b")
                #expect(echo.values(for: "Content-Length") == (length.map { [$0] } ?? []))
                #expect(echo.values(for: "Transfer-Encoding") == [])
            }
            await bench.close()
        }

        @Test("adds no field of its own but Host and Accept-Encoding")
        func ownFields() async throws {
            let bench = try CurlBench()
            bench.server.onAnyMethod("/", .echo)
            for method in [HTTPMethod.get, .post, .put, .get] {
                let body: HTTPBody = method == .get ? .none : .data(Data("x".utf8), contentType: nil)
                let response = try await bench.run(bench.request(method, body: body))
                let names = try JSONDecoder().decode(Echo.self, from: response.body).fields.map { $0[0] }
                #expect(names == ["Host", "Accept-Encoding"] + (method == .get ? [] : ["Content-Length"]))
            }
            await bench.close()
        }

        @Test("sends fields as they came: in order, repeated, empty")
        func fields() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .echo)
            let fields: HTTPFields = [
                "X-B": "1", "X-A": "a, b", "X-B": "2", "X-Empty": "", "Accept-Encoding": "identity", "User-Agent": "me",
                "Accept": "text/plain", "x-blank": "  ", "X-Ü": "no",
            ]
            let valid = HTTPFields(fields.dropLast())
            let response = try await bench.run(bench.request(fields: valid))
            let echo = try JSONDecoder().decode(Echo.self, from: response.body)
            #expect(
                echo.fields.dropFirst().map { $0 } == [
                    ["X-B", "1"], ["X-A", "a, b"], ["X-B", "2"], ["X-Empty", ""], ["Accept-Encoding", "identity"],
                    ["User-Agent", "me"], ["Accept", "text/plain"], ["x-blank", ""],
                ])
            #expect(await bench.failure(bench.request(fields: fields))?.code == .invalidRequest)
            #expect(await bench.failure(bench.request(fields: ["X": "a\r\nY: b"]))?.code == .invalidRequest)
            #expect(bench.server.activity.requests == 1)
            await bench.close()
        }

        @Test("sends bodies of every kind and forgets them for the next request")
        func bodies() async throws {
            let bench = try CurlBench()
            bench.server.onAnyMethod("/", .echo)
            let bodies: [HTTPBody] = [
                .text("héllo"), .data(Data()), .json(["a": 1]), .data(LoopbackServer.pattern(0..<100_000)), .none,
                .data(LoopbackServer.pattern(0..<65_536)), .form(["q": "a b"]),
            ]
            for method in [HTTPMethod.post, .put, .get, .delete] {
                for body in bodies {
                    let sent = try body.encoded(with: BodyCoding()).bytes ?? Data()
                    let response = try await bench.run(bench.request(method, body: body))
                    let echo = try JSONDecoder().decode(Echo.self, from: response.body)
                    #expect(echo.method == method.rawValue)
                    #expect(Data(base64Encoded: echo.bodyBase64) == sent)
                }
            }
            #expect(bench.server.activity.connections == 1)
            await bench.close()
        }

        @Test("keeps repeated fields of a response, skips 1xx, drops trailers, joins folded lines")
        func responseHead() async throws {
            let bench = try CurlBench()
            bench.server.on(
                .get, "/",
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Made\r\nSet-Cookie: a=1\r\nX:\r\n"
                        + "set-cookie:  b=2 \r\nFold: one\r\n  two\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "2\r\nhi\r\n0\r\nTrail: er\r\n\r\n"))
            let response = try await bench.run(bench.request())
            #expect(response.status == 201)
            #expect(response.body == Data("hi".utf8))
            #expect(response.fields.values(for: .setCookie) == ["a=1", "b=2"])
            #expect(
                response.fields.map(\.name.rawName) == ["Set-Cookie", "X", "set-cookie", "Fold", "Transfer-Encoding"])
            #expect(response.fields["Fold"] == "one two")
            await bench.close()
        }

        @Test("refuses a head that begins with a folded line, on a connection that was used before")
        func foldedFirstLine() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .raw("HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\nContent-Length: 2\r\n\r\n  "))
            // libcurl hands a line on in pieces of 16 KB; here the second one begins with a blank.
            let long = "X: " + String(repeating: "x", count: 16_384 - 3) + " " + String(repeating: "y", count: 4_000)
            bench.server.on(.get, "/long", .raw("HTTP/1.1 200 OK\r\n\(long)\r\nContent-Length: 0\r\n\r\n"))
            bench.server.on(.get, "/bare", .raw("HTTP/1.1 204 None\r\n\r\n"))
            bench.server.on(.get, "/early", .raw("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n folded\r\n\r\n"))
            for space in [" ", "\t"] {
                bench.server.on(
                    .get, "/folded", .raw("HTTP/1.1 200 OK\r\n\(space)folded\r\nContent-Length: 0\r\n\r\n"))
                for _ in 0..<20 {
                    // Twice, so that a handle which was used before meets the folded line.
                    for _ in 0..<2 {
                        #expect(try await bench.run(bench.request()).body == Data("  ".utf8))
                        #expect(try await bench.run(bench.request(.get, "/bare")).status == 204)
                    }
                    #expect(await bench.failure(bench.request(.get, "/folded"))?.code == .invalidResponse)
                    #expect(try await bench.run(bench.request()).fields["C"] == "d")
                    #expect(try await bench.run(bench.request(.get, "/long")).fields["X"]?.count == 20_382)
                    #expect(await bench.failure(bench.request(.get, "/early"))?.code == .invalidResponse)
                }
            }
            await bench.close()
        }

        @Test(
            "answers HEAD, 204 and 304 without a body, and does not follow redirects", arguments: [200, 204, 304, 302])
        func bodiless(status: Int) async throws {
            let bench = try CurlBench()
            bench.server.onAnyMethod("/", .status(status, fields: ["Location": "/elsewhere"]))
            for method in [HTTPMethod.head, .get, .head] {
                let response = try await bench.run(bench.request(method))
                #expect(response.status == status)
                #expect(response.body.isEmpty)
            }
            await bench.close()
        }

        @Test("decodes compressed bodies and keeps the fields as received")
        func compressed() async throws {
            let bench = try CurlBench()
            let gzip = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==")!
            bench.server.on(.get, "/", .data(gzip, fields: ["Content-Encoding": "gzip"]))
            let response = try await bench.run(bench.request())
            #expect(response.body == Data("hello".utf8))
            #expect(response.fields[.contentEncoding] == "gzip")
            #expect(response.fields[.contentLength] == "\(gzip.count)")
            await bench.close()
        }

        @Test("carries 20 MB both ways")
        func large() async throws {
            let bench = try CurlBench()
            let length: Int64 = 20_000_000
            bench.server.on(.get, "/down", .pattern(length: length))
            bench.server.on(.put, "/up", .status(200), body: .discarded)
            let down = try await bench.run(bench.request(.get, "/down"))
            #expect(down.body == LoopbackServer.pattern(0..<length))
            let probe = CurlProbe()
            _ = bench.transport.send(
                bench.request(.put, "/up", body: .data(down.body)), to: TransportReceiver(probe))
            let up = await probe.end()
            #expect(up.error == nil)
            #expect(up.sent.last == length)
            #expect(up.sent == up.sent.sorted())
            #expect(bench.server.requests.last?.bodyChecksum == LoopbackServer.checksum(of: down.body))
            await bench.close()
        }

        @Test("hands over what is there before the response is complete")
        func early() async throws {
            let bench = try CurlBench()
            let gate = LoopbackServer.Gate()
            bench.server.on(.get, "/", .chunks(["one", "two"]).held(by: gate, at: .bodyByte(3)))
            let probe = CurlProbe()
            _ = bench.transport.send(bench.request(), to: TransportReceiver(probe))
            await probe.wait { $0.body.count == 3 }
            #expect(probe.state.head?.status == 200)
            gate.release()
            let state = await probe.end()
            #expect(state.body == Data("onetwo".utf8))
            #expect(state.ends == 1)
            await bench.close()
        }

        @Test("gives small responses as one")
        func whole() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .text("small"))
            let probe = CurlProbe()
            _ = bench.transport.send(bench.request(), to: TransportReceiver(probe))
            #expect(await probe.end().isWhole)
            await bench.close()
        }

        @Test("reads no further while the receiver waits, and goes on when it is resumed")
        func backpressure() async throws {
            let bench = try CurlBench(bufferBytes: 16_384)
            let length: Int64 = 30_000_000
            bench.server.on(.get, "/", .pattern(length: length))
            let probe = CurlProbe(demand: { $0 == 1 ? .wait : .more })
            let transmission = bench.transport.send(bench.request(), to: TransportReceiver(probe))
            await probe.wait { $0.chunks == 1 }
            // Another exchange on the same loop shows that rounds go by.
            for _ in 0..<20 { _ = try await bench.run(bench.request(.get, "/other")) }
            #expect(probe.state.chunks == 1)
            #expect(bench.server.activity.bytesSent < 20_000_000)
            transmission.resume()
            let state = await probe.end()
            #expect(state.body == LoopbackServer.pattern(0..<length))
            await bench.close()
        }

        @Test("ends after a last chunk that was answered with wait only when resumed")
        func heldEnd() async throws {
            let bench = try CurlBench()
            let gate = LoopbackServer.Gate()
            bench.server.on(.get, "/", .chunks(["one", "two"]).held(by: gate, at: .bodyByte(3)))
            let probe = CurlProbe(demand: { _ in .wait })
            let transmission = bench.transport.send(bench.request(), to: TransportReceiver(probe))
            await probe.wait { $0.chunks == 1 }
            gate.release()
            for _ in 0..<20 { _ = try await bench.run(bench.request(.get, "/other")) }
            #expect(probe.state.chunks == 1)
            transmission.resume()
            await probe.wait { $0.chunks == 2 }
            for _ in 0..<20 { _ = try await bench.run(bench.request(.get, "/other")) }
            #expect(probe.state.ends == 0)
            transmission.resume()
            #expect(await probe.end().body == Data("onetwo".utf8))
            await bench.close()
        }

        @Test("sends a stream as its reader yields it, with or without a length", arguments: [nil, 6] as [Int64?])
        func stream(length: Int64?) async throws {
            let bench = try CurlBench()
            bench.server.on(.post, "/", .echo)
            let pipe = PipeBody()
            let body = HTTPBody.stream(HTTPBodyStream(length: length, isReplayable: false) { pipe })
            let probe = CurlProbe()
            _ = bench.transport.send(bench.request(.post, body: body), to: TransportReceiver(probe))
            pipe.put("abc")
            await probe.wait { $0.sent.last == 3 }
            pipe.put("def")
            pipe.finish()
            let response = try await probe.response()
            let echo = try JSONDecoder().decode(Echo.self, from: response.body)
            #expect(echo.method == "POST")
            #expect(echo.body == "abcdef")
            #expect(echo.values(for: "Content-Length") == (length == nil ? [] : ["6"]))
            #expect(echo.values(for: "Transfer-Encoding") == (length == nil ? ["chunked"] : []))
            #expect(pipe.closes == 1)
            await bench.close()
        }

        @Test("fails with the reader's error when a stream breaks")
        func brokenStream() async throws {
            let bench = try CurlBench()
            bench.server.on(.post, "/", .echo)
            let pipe = PipeBody()
            let body = HTTPBody.stream(HTTPBodyStream(isReplayable: false) { pipe })
            let probe = CurlProbe()
            _ = bench.transport.send(bench.request(.post, body: body), to: TransportReceiver(probe))
            pipe.put("abc")
            await probe.wait { $0.sent.last == 3 }
            pipe.fail(BatonError(.encodingFailed, "the disk is gone"))
            #expect(await probe.end().error?.message == "the disk is gone")
            #expect(pipe.closes == 1)
            await bench.close()
        }

        @Test("reuses a connection and says so")
        func reuse() async throws {
            let bench = try CurlBench()
            bench.server.on(.get, "/", .text("x"))
            var reused: [Bool?] = []
            for _ in 0..<3 {
                let probe = CurlProbe()
                _ = bench.transport.send(bench.request(), to: TransportReceiver(probe))
                let metrics = await probe.end().metrics
                reused.append(metrics?.connectionReused)
                #expect(metrics?.protocolName == "http/1.1")
                #expect(metrics?.remoteAddress == "127.0.0.1:\(bench.server.port)")
                #expect(metrics?.bodyBytesReceived == 1)
                #expect((metrics?.connect == nil) == (metrics?.connectionReused == true))
            }
            #expect(reused == [false, true, true])
            #expect(bench.server.activity.connections == 1)
            await bench.close()
        }

        @Test("carries 1,000 at once, each ended once")
        func thousand() async throws {
            let bench = try CurlBench(recording: .count)
            bench.server.on(.get, "/*") { .text($0.path) }
            let probes = (0..<1_000).map { _ in CurlProbe() }
            for (index, probe) in probes.enumerated() {
                _ = bench.transport.send(bench.request(.get, "/\(index)"), to: TransportReceiver(probe))
            }
            for (index, probe) in probes.enumerated() {
                let state = await probe.end()
                #expect(state.error == nil)
                #expect(state.body == Data("/\(index)".utf8))
            }
            #expect(probes.allSatisfy { $0.state.ends == 1 && $0.state.afterEnd == 0 })
            await bench.close()
        }
    }
#endif
