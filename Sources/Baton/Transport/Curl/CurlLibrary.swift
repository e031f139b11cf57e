#if os(Linux)
    internal import CBatonCurl

    /// Proof that libcurl is open and set up.
    package struct CurlLibrary: Sendable {
        /// Its version as `0xXXYYZZ`.
        package let version: UInt32

        /// The library of this process, opened and set up on first use.
        package static let shared = open(["libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"])

        /// What the first of these libraries that is there yields.
        package static func open(_ names: [String]) -> Result<CurlLibrary, BatonError> {
            var detail = [CChar](repeating: 0, count: 256)
            var problem = "no library was named"
            for name in names {
                let result = baton_curl_open(name, &detail, detail.count)
                let text = String(decoding: detail.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                switch Int(result) {
                case BATON_CURL_OPENED: return .success(CurlLibrary(version: baton_curl_version()))
                case BATON_CURL_NO_SYMBOL: problem = "\(name) has no \(text); version 7.61 or later is needed"
                case BATON_CURL_INIT_FAILED: problem = "\(name) could not be set up: \(text)"
                default: if name == names.first { problem = text }
                }
            }
            return .failure(
                BatonError(
                    .unsupported,
                    "libcurl cannot be used (\(problem)); install it (libcurl4 on Debian and Ubuntu, libcurl on "
                        + "Fedora) or choose another transport"))
        }
    }
#endif
