#if canImport(Security)
    import Foundation
    import Security
    import Testing

    @testable import Baton

    @Suite("URLSessionTransport: whom it trusts on Apple's systems", .timeLimit(.minutes(1)))
    struct URLSessionTrustTests {
        private static let wrong = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

        /// What the session would show of a server with the sample certificate that is asked as `host`.
        private func server(askedAs host: String) throws -> SecTrust {
            let bytes = Data(SampleCertificates.der(SampleCertificates.server))
            let certificate = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
            var made: SecTrust?
            let policy = SecPolicyCreateSSL(true, host as CFString)
            #expect(SecTrustCreateWithCertificates(certificate, policy, &made) == errSecSuccess)
            let trust = try #require(made)
            // While the certificate holds, and without asking anybody.
            #expect(SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_800_000_000) as CFDate) == errSecSuccess)
            #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
            return trust
        }

        @Test(
            "A server is accepted under its own name, with its authority, and with its key where one is pinned",
            arguments: [
                ("shop.example", [], false), ("shop.example", [SampleCertificates.pin], false),
                ("shop.example", [wrong, SampleCertificates.pin], false), ("shop.example", [wrong], true),
                ("127.0.0.1", [SampleCertificates.pin], false),
            ])
        func authority(host: String, pins: [String], isRefused: Bool) throws {
            let folder = try Folder()
            let file = folder.file("authority.pem")
            try Data(SampleCertificates.authority.utf8).write(to: file)
            let trust = try URLSessionTransport.Trust(certificateAuthorityFile: file.path, pinnedPublicKeys: pins)
            let refusal = trust.refusal(of: try server(askedAs: host), host: host)
            #expect(refusal == (isRefused ? .notPinned : nil))
            #expect(!trust.leavesServersToTheSystem)
            // A name that the certificate does not have.
            let other = trust.refusal(of: try server(askedAs: "other.example"), host: "other.example")
            #expect(isUntrusted(other))
        }

        @Test("A pin does not take the place of trust, and no server is accepted that shows nothing")
        func pinAlone() throws {
            let trust = try URLSessionTransport.Trust(pinnedPublicKeys: [SampleCertificates.pin])
            let refusal = trust.refusal(of: try server(askedAs: "shop.example"), host: "shop.example")
            #expect(isUntrusted(refusal))
            #expect(isUntrusted(trust.refusal(of: nil, host: "shop.example")))
        }

        @Test("Any certificate is accepted of a named host only, and its key where one is pinned")
        func anyCertificate() throws {
            for (pins, refusal) in [([], nil), ([SampleCertificates.pin], nil), ([Self.wrong], TrustRefusal.notPinned)]
            {
                let trust = try URLSessionTransport.Trust(
                    pinnedPublicKeys: pins,
                    serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["Dev.example"]))
                let named = trust.refusal(of: try server(askedAs: "dev.example"), host: "dev.example")
                #expect(named == refusal)
                #expect(isUntrusted(trust.refusal(of: try server(askedAs: "shop.example"), host: "shop.example")))
            }
        }

        private func isUntrusted(_ refusal: TrustRefusal?) -> Bool {
            if case .untrusted = refusal { true } else { false }
        }

        @Test("What cannot work is an error when the trust is made, which names no password")
        func errors() throws {
            let folder = try Folder()
            let file = folder.file("file")
            try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(to: file)
            let tries: [() throws -> URLSessionTransport.Trust] = [
                { try .init(certificateAuthorityFile: folder.file("missing").path) },
                { try .init(certificateAuthorityFile: file.path) },
                { try .init(pinnedPublicKeys: ["sha256//abc"]) },
                { try .init(serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["*"])) },
                { try .init(clientIdentityFile: folder.file("missing").path, clientIdentityPassword: "pa55word") },
                { try .init(clientIdentityFile: file.path, clientIdentityPassword: "pa55word") },
            ]
            for make in tries {
                let error = #expect(throws: BatonError.self) { try make() }
                #expect(error?.code == .invalidConfiguration)
                #expect(error.map { String(reflecting: $0) }?.contains("pa55word") == false)
            }
        }

        @Test("A client takes the trust with its transport, and one without values leaves all to the system")
        func configuration() throws {
            var configuration = URLSessionTransport.Configuration()
            configuration.trust = try URLSessionTransport.Trust(
                pinnedPublicKeys: ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
            let client = Client(baseURL: "https://api.example.com", transport: URLSessionTransport(configuration))
            _ = client
            let empty = try URLSessionTransport.Trust()
            #expect(empty.leavesServersToTheSystem && empty.clientCredential == nil)
        }
    }
#endif
