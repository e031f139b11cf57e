internal import Foundation

/// What is asked of a server's certificate beside what the system asks of it.
struct TrustRules: Sendable {
    /// The SHA-256 of the public keys of which a server must have one; empty for any key.
    let pinnedKeys: Set<Data>
    /// The hosts that may show any certificate, as an origin has them.
    let dangerousHosts: Set<String>

    /// Refuses what cannot work with `invalidConfiguration`.
    init(pinnedPublicKeys: [String] = [], serverTrust: ServerTrust = .required) throws(BatonError) {
        var keys: Set<Data> = []
        for pin in pinnedPublicKeys {
            guard let key = Self.keyHash(ofPin: pin) else {
                throw BatonError(
                    .invalidConfiguration, "a pinned public key does not read sha256//… with the Base64 of 32 bytes")
            }
            keys.insert(key)
        }
        try serverTrust.check()
        pinnedKeys = keys
        dangerousHosts = serverTrust.dangerousHosts
    }

    /// Whether they ask nothing.
    var isEmpty: Bool { pinnedKeys.isEmpty && dangerousHosts.isEmpty }

    /// Why that server is refused; nil where it is accepted. What does not matter is not asked for.
    ///
    /// - Parameters:
    ///   - host: the host that is asked, in any writing.
    ///   - chainFault: what the system finds wrong with the certificates, as its number; nil when it trusts them.
    ///   - keyHash: the SHA-256 of the server's own public key; nil when its certificate could not be read.
    func refusal(
        of host: String, chainFault: @autoclosure () -> Int?, keyHash: @autoclosure () -> Data?
    ) -> TrustRefusal? {
        if !acceptsAnyCertificate(of: host), let fault = chainFault() { return .untrusted(fault) }
        if pinnedKeys.isEmpty { return nil }
        guard let key = keyHash(), pinnedKeys.contains(key) else { return .notPinned }
        return nil
    }

    private func acceptsAnyCertificate(of host: String) -> Bool {
        guard !dangerousHosts.isEmpty else { return false }
        // An IPv6 address may come in its brackets.
        let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return ServerTrust.host(name).map(dangerousHosts.contains) ?? false
    }

    /// The hash that a pin writes down, as curl takes it; nil for anything else, another way to write the same Base64
    /// included, because curl compares texts.
    static func keyHash(ofPin pin: String) -> Data? {
        let mark = "sha256//"
        guard pin.hasPrefix(mark) else { return nil }
        let text = String(pin.dropFirst(mark.count))
        guard let hash = Data(base64Encoded: text), hash.count == 32, hash.base64EncodedString() == text else {
            return nil
        }
        return hash
    }
}

/// Why a server was refused before it got a request.
enum TrustRefusal: Equatable, Sendable {
    /// The system does not trust the certificates; with its number for the reason.
    case untrusted(Int)
    /// The server's key is none of those that are pinned.
    case notPinned

    /// A sentence without anything that came from the request or the server.
    var message: String {
        switch self {
        case .untrusted(let status):
            "the server was refused: its certificate is not trusted for this host (status \(status) of Security)"
        case .notPinned: "the server was refused: its public key is none of the pinned ones"
        }
    }
}
