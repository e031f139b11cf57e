#if canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import Security

    extension URLSessionTransport {
        /// Whom a transport on Apple's systems trusts, and as whom it shows itself; ``Configuration/trust`` takes it.
        ///
        /// **Choose** it for a server with a certificate of your own authority, to pin keys, or for a server that asks
        /// for a client's certificate. Without one the system decides. On Linux `CurlTransport.Configuration` has the
        /// same settings; URLSession there has none of them.
        ///
        /// **Use**
        /// ```swift
        /// var configuration = URLSessionTransport.Configuration()
        /// configuration.trust = try URLSessionTransport.Trust(
        ///     pinnedPublicKeys: ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
        /// let transport = URLSessionTransport(configuration)
        /// ```
        /// A server that is refused gets no request, which fails with `secureConnectionFailed`.
        ///
        /// The certificates are judged once for each connection, beside the transport's events; the system may look up on
        /// the network what it needs for that. It may also resume a TLS session that another session of the
        /// process has with the same host, so give all transports to one host the same trust.
        ///
        /// > Note: In an app, App Transport Security judges too, and it is only ever stricter. A host whose certificate the
        /// > system itself does not trust needs `NSExceptionAllowsInsecureHTTPLoads` in the app's `Info.plist`, with
        /// > `certificateAuthorityFile` as well as with
        /// > ``ServerTrust/dangerouslyAcceptingAnyCertificate(ofHosts:)``.
        public struct Trust: Sendable {
            let serverTrust: ServerTrust
            private let rules: TrustRules
            // In boxes, because it is not said of each of these that threads may share it.
            private let authorities: LockBox<[SecCertificate]>?
            private let identity: LockBox<URLCredential>?

            /// Reads the files and checks the values. Everything has a default that leaves the decision to the system.
            ///
            /// - Parameters:
            ///   - certificateAuthorityFile: a file of PEM certificates to trust in place of the system's. Nil: the
            ///     system's.
            ///   - pinnedPublicKeys: the public keys of which a server must have one, each the Base64 of the SHA-256 of
            ///     the SubjectPublicKeyInfo of the server's own certificate, with `sha256//` before it. They are asked
            ///     for on top of trust. Empty: any key of a trusted certificate.
            ///   - serverTrust: whether servers have to prove who they are.
            ///   - clientIdentityFile: a PKCS#12 file with the certificate that is shown to servers which ask for one, and
            ///     its key. Nil: none. Before macOS 15 the system puts both into the user's default keychain; everywhere
            ///     else they stay in memory. Older systems may not read what OpenSSL 3 writes without `-legacy`.
            ///   - clientIdentityPassword: the password of that file. It is neither kept nor printed.
            /// - Throws: `invalidConfiguration` for a file that cannot be read or has nothing usable in it, a wrong
            ///   password, a key that is not written as above, and a name that is no single host.
            public init(
                certificateAuthorityFile: String? = nil, pinnedPublicKeys: [String] = [],
                serverTrust: ServerTrust = .required, clientIdentityFile: String? = nil,
                clientIdentityPassword: String = ""
            ) throws(BatonError) {
                self.serverTrust = serverTrust
                rules = try TrustRules(pinnedPublicKeys: pinnedPublicKeys, serverTrust: serverTrust)
                authorities = try Self.authorities(certificateAuthorityFile)
                identity = try Self.identity(clientIdentityFile, clientIdentityPassword)
            }

            /// Whether the system alone judges servers.
            var leavesServersToTheSystem: Bool { rules.isEmpty && authorities == nil }

            /// What a server gets that asks for a certificate; nil where there is none.
            var clientCredential: URLCredential? { identity?.withLock { $0 } }

            /// Why a server is refused; nil where it is accepted. The name of the host is among what the system checks.
            func refusal(of server: SecTrust?, host: String) -> TrustRefusal? {
                guard let server else { return .untrusted(Int(errSecParam)) }
                return rules.refusal(of: host, chainFault: fault(of: server), keyHash: Self.keyHash(of: server))
            }

            /// What the system finds wrong; nil when it trusts the certificates.
            private func fault(of server: SecTrust) -> Int? {
                if let authorities = authorities?.withLock({ $0 }) {
                    for status in [
                        SecTrustSetAnchorCertificates(server, authorities as CFArray),
                        SecTrustSetAnchorCertificatesOnly(server, true),
                    ] where status != errSecSuccess { return Int(status) }
                }
                var error: CFError?
                if SecTrustEvaluateWithError(server, &error) { return nil }
                return error.map { CFErrorGetCode($0) } ?? Int(errSecNotTrusted)
            }

            private static func keyHash(of server: SecTrust) -> Data? {
                guard let chain = SecTrustCopyCertificateChain(server) as? [SecCertificate], let leaf = chain.first,
                    let key = X509.publicKeyInfo(of: SecCertificateCopyData(leaf) as Data)
                else { return nil }
                return Data(SHA256.hash(data: key))
            }

            // MARK: Files

            private static func authorities(_ path: String?) throws(BatonError) -> LockBox<[SecCertificate]>? {
                guard let path else { return nil }
                var found: [SecCertificate] = []
                for bytes in try PEM.certificates(ofFile: path) {
                    guard let certificate = SecCertificateCreateWithData(nil, bytes as CFData) else {
                        throw BatonError(
                            .invalidConfiguration,
                            "certificateAuthorityFile has a certificate that the system cannot read: \(path)")
                    }
                    found.append(certificate)
                }
                return LockBox(found)
            }

            private static func identity(
                _ path: String?, _ password: String
            ) throws(BatonError) -> LockBox<URLCredential>? {
                guard let path else { return nil }
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw BatonError(.invalidConfiguration, "clientIdentityFile cannot be read: \(path)")
                }
                var options: [String: Any] = [kSecImportExportPassphrase as String: password]
                if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                    options[kSecImportToMemoryOnly as String] = true
                }
                var items: CFArray?
                let status = SecPKCS12Import(bytes as CFData, options as CFDictionary, &items)
                guard status == errSecSuccess else {
                    throw BatonError(
                        .invalidConfiguration,
                        "clientIdentityFile is no PKCS#12 file that its password opens (status \(status) of Security): "
                            + path)
                }
                let item = (items as? [[String: Any]])?.first
                guard let item, let identity = item[kSecImportItemIdentity as String],
                    CFGetTypeID(identity as CFTypeRef) == SecIdentityGetTypeID()
                else {
                    throw BatonError(
                        .invalidConfiguration, "clientIdentityFile has no certificate with its key: \(path)")
                }
                // The first of the chain is the identity's own certificate.
                let chain = (item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []).dropFirst()
                return LockBox(
                    URLCredential(
                        identity: identity as! SecIdentity, certificates: chain.isEmpty ? nil : Array(chain),
                        persistence: .none))
            }
        }
    }
#endif
