#if os(Linux)
    import BatonTesting
    import Foundation
    import Testing

    @testable import Baton

    @Suite("CurlTransport: whom it trusts", .timeLimit(.minutes(1)))
    struct CurlTLSTests {
        private typealias Configuration = CurlTransport.Configuration

        /// The response of a server to a client that is set up so.
        private func ask(
            _ server: TLSServer, host: String = "127.0.0.1", _ configure: (inout CurlTransport.Configuration) -> Void
        ) async throws -> HTTPResponse {
            var configuration = Configuration()
            configuration.proxy = .none
            configure(&configuration)
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let client = Client(baseURL: "https://\(host):\(server.port)", transport: transport, retry: .none)
            return try await client.run(Call("/", as: HTTPResponse.self))
        }

        @Test(
            "A certificate that nobody vouches for is refused; one's own authority lets it pass",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func authority() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1,DNS:localhost")
            let server = try TLSServer(identity)
            defer { server.stop() }
            let refused = try await failure { try await ask(server) { _ in } }
            #expect(refused.code == .secureConnectionFailed)
            let response = try await ask(server) { $0.certificateAuthorityFile = identity.certificate.path }
            #expect(response.status == 200 && response.metrics?.secureConnect ?? .zero > .zero)
        }

        @Test(
            "Any certificate is accepted from a host that is named, and from no other host of the same transport",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func anyCertificate() async throws {
            let folder = try Folder()
            // For neither of the names under which the server is asked, and nobody vouches for it.
            let identity = try TLSServer.makeIdentity(in: folder, "other", names: "DNS:other.example")
            let server = try TLSServer(identity)
            defer { server.stop() }
            var configuration = Configuration()
            configuration.proxy = .none
            configuration.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: ["LocalHost"])
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let client = Client(transport: transport, retry: .none)
            // In turns, so that handles and connections of one host are at hand for the other.
            for host in ["localhost", "127.0.0.1", "LOCALHOST", "127.0.0.1"] {
                let call = Call("https://\(host):\(server.port)/", as: HTTPResponse.self)
                if host.lowercased() == "localhost" {
                    #expect(try await client.run(call).status == 200)
                } else {
                    let refused = try await failure { try await client.run(call) }
                    #expect(refused.code == .secureConnectionFailed)
                }
            }
        }

        @Test(
            "Where any certificate is accepted from a host, a pinned key must still be the server's",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func anyCertificateButPinned() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "DNS:other.example")
            let wrong = try TLSServer.pin(try TLSServer.makeIdentity(in: folder, "another", names: "IP:127.0.0.1"))
            let pin = try TLSServer.pin(identity)
            let server = try TLSServer(identity)
            defer { server.stop() }
            for (key, isRight) in [(pin, true), (wrong, false)] {
                let ask: @Sendable () async throws -> HTTPResponse = {
                    try await self.ask(server) {
                        $0.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: ["127.0.0.1"])
                        $0.pinnedPublicKeys = [key]
                    }
                }
                if isRight {
                    #expect(try await ask().status == 200)
                } else {
                    #expect(try await failure(ask).code == .secureConnectionFailed)
                }
            }
        }

        @Test(
            "A host to which a named one redirects has to prove who it is",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func redirected() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "other", names: "DNS:other.example")
            let server = try TLSServer(identity)
            defer { server.stop() }
            let first = try LoopbackServer()
            first.on(.get, "/", .redirect(to: "https://127.0.0.1:\(server.port)/"))
            var configuration = Configuration()
            configuration.proxy = .none
            configuration.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: ["localhost"])
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let client = Client(transport: transport, retry: .none)
            let error = try await failure {
                try await client.run(Call("http://localhost:\(first.port)/", as: HTTPResponse.self))
            }
            #expect(error.code == .secureConnectionFailed)
        }

        @Test(
            "What names no single host cannot be accepted",
            arguments: [
                "*", "*.example.com", "", "example.com:443", "https://example.com", "example.com/a", "a b", "[::1]",
                "u@h",
            ])
        func noSingleHost(name: String) async throws {
            let error = try await failure {
                var configuration = Configuration()
                configuration.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: ["localhost", name])
                return try CurlTransport(configuration: configuration)
            }
            #expect(error.code == .invalidConfiguration && error.message.contains("names no single host"))
        }

        @Test("A transport that accepts any certificate of a host says so on standard error, and only such a one")
        func isLoud() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                _ = try CurlTransport()
                var configuration = CurlTransport.Configuration()
                configuration.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: [
                    "b.example", "::1", "A.Example",
                ])
                _ = try CurlTransport(configuration: configuration)
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("Baton: ") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("accepts ANY certificate from ::1, a.example, b.example:") == true)
        }

        @Test(
            "A certificate for another host is refused, whoever vouches for it",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func otherHost() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "other", names: "DNS:other.example")
            let server = try TLSServer(identity)
            defer { server.stop() }
            let error = try await failure {
                try await ask(server) { $0.certificateAuthorityFile = identity.certificate.path }
            }
            #expect(error.code == .secureConnectionFailed)
        }

        @Test(
            "A pinned public key must be the server's",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func pinned() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1")
            let other = try TLSServer.makeIdentity(in: folder, "another", names: "IP:127.0.0.1")
            let (pin, wrong) = (try TLSServer.pin(identity), try TLSServer.pin(other))
            let server = try TLSServer(identity)
            defer { server.stop() }
            let file = identity.certificate.path
            for pins in [[pin], [wrong, pin]] {
                let response = try await ask(server) {
                    $0.certificateAuthorityFile = file
                    $0.pinnedPublicKeys = pins
                }
                #expect(response.status == 200)
            }
            let error = try await failure {
                try await ask(server) {
                    $0.certificateAuthorityFile = file
                    $0.pinnedPublicKeys = [wrong]
                }
            }
            #expect(error.code == .secureConnectionFailed)
            // A pin does not take the place of trust.
            let untrusted = try await failure { try await ask(server) { $0.pinnedPublicKeys = [pin] } }
            #expect(untrusted.code == .secureConnectionFailed)
        }

        @Test(
            "A server that asks for a client's certificate gets the one of the configuration",
            .enabled(if: TLSServer.isAvailable, "needs openssl"))
        func clientCertificate() async throws {
            let folder = try Folder()
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: "IP:127.0.0.1")
            let user = try TLSServer.makeIdentity(in: folder, "user", names: "DNS:user.example")
            let server = try TLSServer(
                identity, ["-Verify", "1", "-verify_return_error", "-CAfile", user.certificate.path])
            defer { server.stop() }
            let response = try await ask(server) {
                $0.certificateAuthorityFile = identity.certificate.path
                $0.clientCertificateFile = user.certificate.path
                $0.clientKeyFile = user.key.path
            }
            #expect(response.status == 200)
            _ = try await failure { try await ask(server) { $0.certificateAuthorityFile = identity.certificate.path } }
        }
    }

    @Suite("CurlTransport: by which way", .timeLimit(.minutes(1)))
    struct CurlRouteTests {
        @Test("A proxy of the configuration gets the whole URL")
        func proxy() async throws {
            let proxy = try LoopbackServer()
            proxy.enqueue(.text("by proxy"))
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .url(proxy.baseURL)
            let client = Client(
                baseURL: "http://shop.invalid", transport: try CurlTransport(configuration: configuration), retry: .none
            )
            let text = try await client.run(Call("/a?b=c", as: String.self))
            #expect(text == "by proxy")
            #expect(proxy.requests.map(\.target) == ["http://shop.invalid/a?b=c"])
        }

        @Test("A proxy of the environment is used, but not for the hosts that it excepts")
        func environment() async {
            await #expect(processExitsWith: .success) {
                for name in ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(name) }
                let (proxy, server) = (try LoopbackServer(), try LoopbackServer())
                proxy.enqueue(.text("by proxy"))
                server.on(.get, "/a", .text("directly"))
                setenv("http_proxy", proxy.baseURL, 1)
                setenv("no_proxy", "127.0.0.1", 1)
                let client = Client(transport: try CurlTransport(), retry: .none)
                let first = try await client.run(Call("http://shop.invalid/a", as: String.self))
                let second = try await client.run(Call("\(server.baseURL)/a", as: String.self))
                precondition(first == "by proxy" && second == "directly")
            }
        }

        @Test("Connections go to a socket in the file system where the configuration says so")
        func unixSocket() async throws {
            let folder = try Folder()
            let path = folder.file("s").path
            let listener = try #require(UnixSocketServer(path))
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            configuration.unixSocketPath = path
            let client = Client(
                baseURL: "http://engine", transport: try CurlTransport(configuration: configuration), retry: .none)
            let response = try await client.run(Call("/info", as: HTTPResponse.self))
            #expect(response.body == Data("socket".utf8))
            #expect(listener.head.contains("GET /info HTTP/1.1\r\nHost: engine\r\n"))
        }
    }

    /// Answers one connection to a socket in the file system.
    private final class UnixSocketServer: Sendable {
        private let received = LockBox("")
        var head: String { received.withLock { $0 } }

        init?(_ path: String) {
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
            let isBound = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            guard isBound, listen(listener, 1) == 0 else { return nil }
            Thread.detachNewThread { [received] in
                let connection = accept(listener, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = read(connection, &buffer, buffer.count)
                received.withLock { $0 = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) }
                let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsocket".utf8)
                _ = write(connection, reply, reply.count)
                close(connection)
                close(listener)
            }
        }
    }
#endif
