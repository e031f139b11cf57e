#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    extension CurlTransport {
        /// How a `CurlTransport` connects. Everything has a default that suits a client of public servers.
        public struct Configuration: Sendable {
            /// The proxy. Default: as the environment says.
            public var proxy: Proxy = .environment
            /// A Unix domain socket to which every connection goes, in place of the host's address. Default: none.
            public var unixSocketPath: String?
            /// A file of PEM certificates to trust in place of the system's. Default: nil, the system's.
            public var certificateAuthorityFile: String?
            /// A PEM file with the certificate that the client shows to servers. Default: none.
            public var clientCertificateFile: String?
            /// A PEM file with the key of that certificate. Default: nil, it is in the certificate's file.
            public var clientKeyFile: String?
            /// The public keys of which a TLS server must have one, each the Base64 of its SHA-256 with `sha256//`
            /// before it. Default: empty, any key of a trusted certificate.
            public var pinnedPublicKeys: [String] = []
            /// Whether servers have to prove who they are. Default: they have to.
            public var serverTrust: ServerTrust = .required
            /// How many connections are kept open for reuse; the one that was idle longest is closed for another.
            /// Default: 1,000. It limits no requests.
            public var maxIdleConnections = 1_000

            /// The defaults.
            public init() {}

            /// Through which proxy requests go.
            public enum Proxy: Sendable, Hashable {
                /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say when the transport is made.
                case environment
                /// Straight to the server, whatever the environment says.
                case none
                /// To that one, as `http://proxy.example.com:3128`; user and password may stand before the host.
                case url(String)
            }

            /// Refuses what cannot work before anything is sent with it.
            func check() throws(BatonError) {
                guard maxIdleConnections > 0 else {
                    throw BatonError(
                        .invalidConfiguration, "maxIdleConnections is \(maxIdleConnections): use 1 or more")
                }
                _ = try TrustRules(pinnedPublicKeys: pinnedPublicKeys, serverTrust: serverTrust)
                // Some TLS libraries cannot do everything; asking a handle tells.
                let settings = CurlSettings(self, callbacks: baton_curl_callbacks())
                defer { settings.free() }
                var refused: UnsafePointer<CChar>?
                guard let handle = settings.makeHandle(loop: nil, refused: &refused) else {
                    throw BatonError(.transportFailed, "libcurl has no memory for a handle")
                }
                baton_curl_handle_free(handle)
                if let refused {
                    let name = String(cString: refused)
                    throw BatonError(.unsupported, "this libcurl refuses the option \(name) of the configuration")
                }
            }

            var pinnedKeyList: String? { pinnedPublicKeys.isEmpty ? nil : pinnedPublicKeys.joined(separator: ";") }

            /// What libcurl is told: nil to look at the environment for each request, empty for none. It is spared
            /// the look-ups where the environment names no proxy now.
            var proxyText: String? {
                switch proxy {
                case .none: return ""
                case .url(let url): return url
                case .environment:
                    let environment = ProcessInfo.processInfo.environment
                    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
                    return names.contains { environment[$0]?.isEmpty == false } ? nil : ""
                }
            }
        }
    }

    /// The configuration as C takes it. Belongs to one thread; its texts live until `free`.
    struct CurlSettings {
        private var settings = baton_curl_settings()
        private var texts: [UnsafeMutablePointer<CChar>] = []
        /// The hosts that may show any certificate; empty, but for few.
        private let dangerousHosts: Set<String>

        init(_ configuration: CurlTransport.Configuration, callbacks: baton_curl_callbacks) {
            dangerousHosts = configuration.serverTrust.dangerousHosts
            settings.proxy = keep(configuration.proxyText)
            settings.unix_socket_path = keep(configuration.unixSocketPath)
            settings.ca_file = keep(configuration.certificateAuthorityFile)
            settings.client_certificate = keep(configuration.clientCertificateFile)
            settings.client_key = keep(configuration.clientKeyFile)
            settings.pinned_keys = keep(configuration.pinnedKeyList)
            settings.callbacks = callbacks
        }

        private mutating func keep(_ text: String?) -> UnsafePointer<CChar>? {
            guard let text, let copy = strdup(text) else { return nil }
            texts.append(copy)
            return UnsafePointer(copy)
        }

        func makeHandle(
            loop: OpaquePointer?, refused: inout UnsafePointer<CChar>?
        ) -> UnsafeMutablePointer<baton_curl_handle>? {
            withUnsafePointer(to: settings) { baton_curl_handle_make(loop, $0, &refused) }
        }

        /// Whether a server may show any certificate where this is asked for. Its origin has the host in small letters.
        func acceptsAnyCertificate(for request: HTTPRequest) -> Bool {
            !dangerousHosts.isEmpty && dangerousHosts.contains(request.origin.host)
        }

        func free() {
            for text in texts { Foundation.free(text) }
        }
    }
#endif
