/// Whether servers have to prove who they are: a setting of `CurlTransport` on Linux and of `URLSessionTransport` on
/// Apple's systems.
///
/// **Choose** ``required``, the default of both. A server of your own that has no certificate of a public authority is
/// better served by `certificateAuthorityFile` or `pinnedPublicKeys` of the same configuration.
///
/// **Use**
/// ```swift
/// configuration.serverTrust = .dangerouslyAcceptingAnyCertificate(ofHosts: ["dev.example.com"])
/// ```
public enum ServerTrust: Sendable, Hashable {
    /// A trusted certificate that names the host.
    case required
    /// Any certificate goes where one of these hosts is asked: a self-signed one, an expired one, one for another
    /// name. **Anyone on the way to these hosts can read and change what is sent and received, passwords and tokens
    /// too.** For a server of your own that has no proper certificate yet; a certificate authority of your own and
    /// pinned keys serve it without that danger.
    ///
    /// Each host is named in full as the URLs write it, in large or small letters, without port, and without brackets
    /// where it is an IPv6 address; no name stands for others below it. What names no single host is an
    /// `invalidConfiguration` when the transport or its trust is made. All other hosts have to prove who they are,
    /// those to which a redirect leads among them, and no value stands for every host. Pinned keys are asked for
    /// everywhere. Each transport that is made so says it on standard error.
    case dangerouslyAcceptingAnyCertificate(ofHosts: Set<String>)

    private var names: Set<String> {
        if case .dangerouslyAcceptingAnyCertificate(let names) = self { names } else { [] }
    }

    /// The hosts that may show any certificate, as an origin has them.
    var dangerousHosts: Set<String> { Set(names.compactMap(Self.host)) }

    /// Refuses a name that is more or less than one host.
    func check() throws(BatonError) {
        for name in names where Self.host(name) == nil {
            throw BatonError(
                .invalidConfiguration,
                "\(name.debugDescription) names no single host: write the host in full, without scheme, port, path or "
                    + "wildcard")
        }
    }

    /// A host as an origin has it; nil for what is more or less than one.
    static func host(_ name: String) -> String? {
        guard !name.contains(where: { "/?#@[]".contains($0) }) else { return nil }
        return try? HTTPOrigin(base: name.contains(":") ? "https://[\(name)]" : "https://\(name)").host
    }

    /// Says what must not go unseen.
    func warn() {
        let hosts = dangerousHosts.sorted()
        guard !hosts.isEmpty else { return }
        StandardErrorNotice.write(
            "this transport accepts ANY certificate from \(hosts.joined(separator: ", ")): whoever is on the way there "
                + "can read and change everything")
    }
}
