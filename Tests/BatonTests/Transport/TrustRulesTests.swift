import Foundation
import Testing

@testable import Baton

@Suite("What is asked of servers")
struct TrustRulesTests {
    private static let key = Data(repeating: 1, count: 32)
    private static let another = Data(repeating: 2, count: 32)
    private static func pin(_ key: Data) -> String { "sha256//" + key.base64EncodedString() }

    @Test(
        "Without pins trust decides, but for the hosts that are named",
        arguments: [
            ("shop.example", nil, nil), ("shop.example", -67_843, TrustRefusal.untrusted(-67_843)),
            ("dev.example", nil, nil), ("dev.example", -67_843, nil), ("DEV.Example", -67_843, nil),
            ("a.dev.example", -1, .untrusted(-1)), ("dev.example.org", -1, .untrusted(-1)),
            ("::1", -1, nil), ("[::1]", -1, nil), ("::2", -1, .untrusted(-1)), ("", -1, .untrusted(-1)),
            ("*", -1, .untrusted(-1)),
        ] as [(String, Int?, TrustRefusal?)])
    func trust(host: String, fault: Int?, expected: TrustRefusal?) throws {
        let rules = try TrustRules(
            serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["Dev.Example", "::1"]))
        #expect(rules.refusal(of: host, chainFault: fault, keyHash: nil) == expected)
    }

    @Test(
        "A pinned key is asked for on top of trust, and of the named hosts too",
        arguments: [
            ("shop.example", nil, key, nil), ("shop.example", nil, another, TrustRefusal.notPinned),
            ("shop.example", nil, nil, .notPinned), ("shop.example", -1, key, .untrusted(-1)),
            ("shop.example", -1, another, .untrusted(-1)), ("dev.example", -1, key, nil),
            ("dev.example", -1, another, .notPinned), ("dev.example", nil, nil, .notPinned),
        ] as [(String, Int?, Data?, TrustRefusal?)])
    func pinned(host: String, fault: Int?, key: Data?, expected: TrustRefusal?) throws {
        let third = Data(repeating: 3, count: 32)
        let rules = try TrustRules(
            pinnedPublicKeys: [Self.pin(third), Self.pin(Self.key)],
            serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["dev.example"]))
        #expect(rules.refusal(of: host, chainFault: fault, keyHash: key) == expected)
    }

    @Test("The system is not asked about a named host, nor for the key where none is pinned")
    func asksNoMore() throws {
        let rules = try TrustRules(serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["dev.example"]))
        var asked: [String] = []
        func ask<Answer>(_ what: String, _ answer: Answer) -> Answer {
            asked.append(what)
            return answer
        }
        for host in ["dev.example", "shop.example"] {
            _ = rules.refusal(of: host, chainFault: ask("chain of \(host)", nil), keyHash: ask("key", nil))
        }
        #expect(asked == ["chain of shop.example"])
    }

    @Test("Rules without pins and named hosts ask nothing of their own")
    func empty() throws {
        #expect(try TrustRules().isEmpty)
        #expect(try TrustRules(serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: [])).isEmpty)
        #expect(try !TrustRules(pinnedPublicKeys: [Self.pin(Self.key)]).isEmpty)
        #expect(try !TrustRules(serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["a"])).isEmpty)
    }

    @Test("A pin is the Base64 of 32 bytes behind its mark")
    func pins() throws {
        #expect(TrustRules.keyHash(ofPin: Self.pin(Self.key)) == Self.key)
        #expect(TrustRules.keyHash(ofPin: SampleCertificates.pin)?.count == 32)
    }

    @Test(
        "What is no pin is an error in the configuration",
        arguments: [
            "", "sha256//", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha1//AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "SHA256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= ",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sha256//AAAA",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256//________________________________________AAA=",
        ])
    func noPin(text: String) {
        let error = #expect(throws: BatonError.self) {
            try TrustRules(pinnedPublicKeys: [Self.pin(Self.key), text])
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(
        "The name of a host is read as an origin has it",
        arguments: [
            ("Example.COM", "example.com"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1"),
            ("2001:DB8::a", "2001:db8::a"), ("my_host", "my_host"), ("bücher.example", "xn--bcher-kva.example"),
        ])
    func host(name: String, expected: String) {
        #expect(ServerTrust.host(name) == expected)
        #expect(
            ServerTrust.dangerouslyAcceptingAnyCertificate(ofHosts: [name, name.uppercased()]).dangerousHosts
                == [expected])
    }

    @Test(
        "A name that is more or less than one host is an error in the configuration",
        arguments: [
            "*", "*.example.com", "", " ", "example.com:443", "https://example.com", "example.com/a", "a b", "[::1]",
            "u@h", "a,b", "::1%eth0", "1::2::3", "example.com?", "#",
        ])
    func noHost(name: String) {
        let error = #expect(throws: BatonError.self) {
            try TrustRules(serverTrust: .dangerouslyAcceptingAnyCertificate(ofHosts: ["localhost", name]))
        }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("names no single host") == true)
    }
}
