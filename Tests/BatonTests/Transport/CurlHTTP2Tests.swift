#if os(Linux)
    import Foundation
    import Testing

    @testable import Baton

    @Suite("CurlTransport: HTTP/2", .timeLimit(.minutes(1)))
    struct CurlHTTP2Tests {
        /// A client that trusts the server, and its transport.
        private func bench(_ server: HTTP2Server, _ identity: TLSServer.Identity) throws -> (Client, CurlTransport) {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            configuration.certificateAuthorityFile = identity.certificate.path
            let transport = try CurlTransport(configuration: configuration)
            return (Client(baseURL: "https://127.0.0.1:\(server.port)", transport: transport, retry: .none), transport)
        }

        @Test(
            "Where a TLS server offers it, HTTP/2 is spoken, and the metrics of the attempt say h2",
            .enabled(if: HTTP2Server.isAvailable, "needs nghttpd openssl"))
        func spoken() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1")
            try Data("over two".utf8).write(to: folder.file("page.txt"))
            let server = try HTTP2Server(identity, folder)
            defer { server.stop() }
            let (client, transport) = try bench(server, identity)
            defer { transport.shutdown() }
            let run = client.start(Call("/page.txt", as: HTTPResponse.self))
            let response = try await run.value
            #expect(response.status == 200 && response.body == Data("over two".utf8))
            #expect(response.metrics?.protocolName == "h2")
            #expect(response.metrics?.secureConnect ?? .zero > .zero)
            #expect(run.trace.steps.first?.metrics?.protocolName == "h2")
        }

        @Test(
            "Requests at once share one HTTP/2 connection, and bodies in both directions arrive whole",
            .enabled(if: HTTP2Server.isAvailable, "needs nghttpd openssl"))
        func shared() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1")
            let page = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try page.write(to: folder.file("page.bin"))
            let server = try HTTP2Server(identity, folder)
            defer { server.stop() }
            let (client, transport) = try bench(server, identity)
            defer { transport.shutdown() }
            let calls = (0..<20).map { index in
                Call("/page.bin?\(index)", as: HTTPResponse.self) { call in
                    if index % 2 == 1 {
                        call.method = .post
                        call.body = .data(page)
                    }
                }
            }
            let report = try await client.run(Batch(calls, maxConcurrency: 20))
            #expect(report.successes.count == 20, "\(report.failures)")
            for success in report.successes {
                #expect(success.value.body == page && success.value.metrics?.protocolName == "h2")
            }
            #expect(report.successes.count { $0.value.metrics?.connectionReused == false } == 1)
        }

        @Test(
            "A server that does not offer HTTP/2 is spoken to in HTTP/1.1",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func notOffered() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1")
            let server = try TLSServer(identity, ["-alpn", "http/1.1"])
            defer { server.stop() }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            configuration.certificateAuthorityFile = identity.certificate.path
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let client = Client(baseURL: "https://127.0.0.1:\(server.port)", transport: transport, retry: .none)
            let response = try await client.run(Call("/", as: HTTPResponse.self))
            #expect(response.status == 200 && response.metrics?.protocolName?.hasPrefix("http/1.") == true)
        }

        @Test("HTTP/2 is offered to every TLS server, before HTTP/1.1")
        func offered() async throws {
            let listener = try HelloListener()
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let client = Client(baseURL: "https://127.0.0.1:\(listener.port)", transport: transport, retry: .none)
            _ = try await failure { try await client.run(Call("/", as: HTTPResponse.self)) }
            // The list of RFC 7301: each name with its length before it.
            #expect(listener.hello.range(of: Data([2] + "h2".utf8 + [8] + "http/1.1".utf8)) != nil)
        }
    }

    /// Takes what a TLS client says first, and closes the connection.
    private final class HelloListener: Sendable {
        let port: Int
        private let received = LockBox(Data())
        var hello: Data { received.withLock { $0 } }

        init() throws {
            let (listener, port) = try LoopbackSocket.bound()
            guard listen(listener, 1) == 0 else { throw CocoaError(.executableLoad) }
            self.port = port
            Thread.detachNewThread { [received] in
                let connection = accept(listener, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 16_384)
                var hello: [UInt8] = []
                // A record says its length after its type and version.
                while hello.count < 5 || hello.count < 5 + Int(hello[3]) << 8 + Int(hello[4]) {
                    let count = read(connection, &buffer, buffer.count)
                    if count <= 0 { break }
                    hello += buffer.prefix(count)
                }
                received.withLock { $0 = Data(hello) }
                close(connection)
                close(listener)
            }
        }
    }

    private enum LoopbackSocket {
        /// A socket at a port of 127.0.0.1 that the system picked.
        static func bound() throws -> (descriptor: Int32, port: Int) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else { throw CocoaError(.executableLoad) }
            return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
        }
    }

    /// A server of a test that speaks HTTP/2 over TLS: `nghttpd`, which serves the files of a folder.
    final class HTTP2Server: Sendable {
        private static let program = Tool.find("nghttpd")
        static var isAvailable: Bool { program != nil && TLSServer.isAvailable }

        let port: Int
        private let process: Process

        init(_ identity: TLSServer.Identity, _ folder: Folder) throws {
            // It does not say which port the system picked, so a free one is looked for; somebody else may take it first.
            for _ in 0..<20 {
                let port = try Self.freePort()
                if let process = try Self.start(identity, folder, port) {
                    (self.port, self.process) = (port, process)
                    return
                }
            }
            throw CocoaError(.executableLoad)
        }

        /// Nobody waits for its end: that would hold a thread which the tests share.
        func stop() { Tool.end(process) }

        /// Nil when it did not come to listen.
        private static func start(_ identity: TLSServer.Identity, _ folder: Folder, _ port: Int) throws -> Process? {
            let (process, output) = try Tool.start(
                program,
                [
                    "--verbose", "--address=127.0.0.1", "--htdocs=\(folder.url.path)", "--echo-upload", String(port),
                    identity.key.path, identity.certificate.path,
                ])
            var text = ""
            while !text.contains(": listen ") {
                let bytes = output.availableData
                if bytes.isEmpty { return nil }
                text += String(decoding: bytes, as: UTF8.self)
            }
            // It tells of every frame, and would stop when nobody took that.
            output.readabilityHandler = { handle in
                if handle.availableData.isEmpty { handle.readabilityHandler = nil }
            }
            return process
        }

        private static func freePort() throws -> Int {
            let (descriptor, port) = try LoopbackSocket.bound()
            close(descriptor)
            return port
        }
    }
#endif
