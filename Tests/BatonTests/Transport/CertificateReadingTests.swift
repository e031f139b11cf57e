import Foundation
import Testing

@testable import Baton

@Suite("Reading certificates")
struct CertificateReadingTests {
    // MARK: PEM

    @Test(
        "The certificates of a text are found in their order, whatever ends its lines and stands around them",
        arguments: ["\n", "\r\n"])
    func pem(lineEnd: String) {
        let text = """
            # A bundle; é
            \(SampleCertificates.authority)
            -----BEGIN PRIVATE KEY-----
            AAAA
            -----END PRIVATE KEY-----

            \(SampleCertificates.server)
            """.replacingOccurrences(of: "\n", with: "  \(lineEnd)")
        var bytes = Data(text.utf8)
        bytes.append(contentsOf: [0x0A, 0xFF, 0x0A])
        #expect(
            PEM.certificates(in: bytes)?.map(Array.init) == [
                SampleCertificates.der(SampleCertificates.authority), SampleCertificates.der(SampleCertificates.server),
            ])
    }

    @Test(
        "A certificate that does not end, does not begin, or is no Base64 spoils the text",
        arguments: [
            "-----BEGIN CERTIFICATE-----\nAAAA", "AAAA\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nA*AA\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nAAA\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        ])
    func brokenPEM(text: String) {
        #expect(PEM.certificates(in: Data(text.utf8)) == nil)
        #expect(PEM.certificates(in: Data("\(SampleCertificates.server)\n\(text)".utf8)) == nil)
    }

    @Test("A file that is missing, has no certificate or a broken one is an error in the configuration")
    func files() throws {
        let folder = try Folder()
        for (name, text) in [
            ("missing", nil), ("empty", ""), ("key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"),
            ("broken", "-----BEGIN CERTIFICATE-----"),
        ] {
            let file = folder.file(name)
            try text.map { try Data($0.utf8).write(to: file) }
            let error = #expect(throws: BatonError.self) { try PEM.certificates(ofFile: file.path) }
            #expect(error?.code == .invalidConfiguration && error?.message.contains(file.path) == true)
        }
        let file = folder.file("good")
        try Data(SampleCertificates.server.utf8).write(to: file)
        #expect(try PEM.certificates(ofFile: file.path).count == 1)
    }

    // MARK: The public key

    #if os(Linux)
        @Test(
            "The public key of a certificate is the one that openssl finds there",
            .enabled(if: TLSServer.isAvailable, "needs openssl"),
            arguments: [
                ["rsa:2048"], ["rsa:3072"], ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
                ["ec", "-pkeyopt", "ec_paramgen_curve:secp521r1"], ["ed25519"],
            ])
        func publicKey(newKey: [String]) throws {
            let folder = try Folder()
            let names = (1...40).map { "DNS:host-\($0).example" }.joined(separator: ",")
            let identity = try TLSServer.makeIdentity(in: folder, "own", names: names, newKey: newKey)
            let certificates = try PEM.certificates(ofFile: identity.certificate.path)
            let expected = try TLSServer.publicKey(identity)
            #expect(certificates.count == 1 && expected.count > 40)
            #expect(try X509.publicKeyInfo(of: #require(certificates.first)) == expected)
        }
    #endif

    /// An element: its tag, its length and what is in it.
    private static func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return [tag] + length + content
    }

    private static let key = element(0x30, element(0x30, [0x06, 0x01, 0x2A]), element(0x03, [0, 1, 2, 3]))
    private static let version = element(0xA0, element(0x02, [2]))
    private static let serial = element(0x02, [1])

    /// Something shaped like a certificate, with these elements before the key.
    private static func certificate(_ before: [[UInt8]], key: [UInt8] = key, after: [UInt8] = []) -> [UInt8] {
        let signed = element(0x30, before.flatMap { $0 } + key + after)
        return element(0x30, signed, element(0x30), element(0x03, [0, 9]))
    }

    private static func read(_ bytes: [UInt8]) -> [UInt8]? { X509.publicKeyInfo(of: Data(bytes)).map(Array.init) }

    @Test("The key is found with and without a version, and whatever stands before and behind it")
    func shapes() {
        let empty = Self.element(0x30)
        let long = Self.element(0x30, [UInt8](repeating: 7, count: 300))
        #expect(Self.read(Self.certificate([Self.version, Self.serial, empty, empty, empty, empty])) == Self.key)
        #expect(Self.read(Self.certificate([Self.serial, empty, long, empty, long])) == Self.key)
        let extensions = Self.element(0xA3, long)
        #expect(Self.read(Self.certificate([Self.serial, empty, empty, empty, empty], after: extensions)) == Self.key)
        let slice = ([0, 0] + Self.certificate([Self.serial, empty, empty, empty, empty]))[2...]
        #expect(X509.publicKeyInfo(of: Data(slice)) == Data(Self.key))
        #expect(X509.publicKeyInfo(of: (Data([9, 9]) + Data(slice))[2...]) == Data(Self.key))
    }

    @Test("What is not built as a certificate has no key")
    func malformed() {
        let empty = Self.element(0x30)
        let fields = [Self.version, Self.serial, empty, empty, empty, empty]
        var wrong: [String: [UInt8]] = [
            "nothing": [], "only a tag": [0x30], "an empty sequence": empty,
            "a byte too many": Self.certificate(fields) + [0],
            "no serial number": Self.certificate([Self.version, empty, empty, empty, empty]),
            "a field too few": Self.certificate([Self.version, Self.serial, empty, empty, empty]),
            "no bits in the key": Self.certificate(fields, key: Self.element(0x30, empty)),
            "a key that is no sequence": Self.certificate(fields, key: Self.element(0x31, empty, Self.element(3, [0]))),
            "something behind the bits": Self.certificate(
                fields, key: Self.element(0x30, empty, Self.element(3, [0]), [5, 0])),
            "no signature": Self.element(0x30, Self.element(0x30, fields.flatMap { $0 } + Self.key)),
            "no definite length": [0x30, 0x80] + Self.certificate(fields).dropFirst(2) + [0, 0],
            "a length without an end": [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            "a length of many bytes": [0x30, 0xFF] + [UInt8](repeating: 0xFF, count: 200),
            "a key that ends outside": Self.certificate(fields, key: [0x30, 0x40] + Self.key.dropFirst(2)),
        ]
        let short = Self.certificate(fields)
        wrong["a length longer than it must be"] = [0x30, 0x81] + short.dropFirst()
        wrong["a length with a zero in front"] = [0x30, 0x82, 0] + short.dropFirst()
        #expect(Self.read(short) == Self.key && short.count < 0x80)
        for (what, bytes) in wrong { #expect(Self.read(bytes) == nil, "\(what)") }
    }

    @Test(
        "A certificate that breaks off has no key",
        arguments: [SampleCertificates.authority, SampleCertificates.server])
    func cut(pem: String) {
        let bytes = SampleCertificates.der(pem)
        #expect(Self.read(bytes)?.count == 91)
        for count in 0..<bytes.count { #expect(Self.read(Array(bytes.prefix(count))) == nil) }
    }

    @Test(
        "Mutated certificates: what is taken for the key is one element that stands in them",
        arguments: [1, 2] as [UInt64])
    func mutatedCertificates(seed: UInt64) {
        let seeds = [SampleCertificates.authority, SampleCertificates.server].map(SampleCertificates.der)
        var mutations = Mutations(of: seeds, seed: seed)
        var found = 0
        for _ in 0..<Scale.count(40_000, everyday: 4_000) / 2 {
            let bytes = mutations.next()
            guard let key = Self.read(bytes) else { continue }
            found += 1
            var reader = DERReader(key[...])
            let isElement = reader.read(.sequence) != nil && reader.isAtEnd
            if !isElement || Data(bytes).range(of: Data(key)) == nil {
                Issue.record("seed \(seed), input \(bytes)")
                return
            }
        }
        #expect(found > 0)
    }

    @Test("Mutated PEM: what is read is read again from what it is written as", arguments: [1, 2] as [UInt64])
    func mutatedText(seed: UInt64) {
        let (authority, server) = (SampleCertificates.authority, SampleCertificates.server)
        let edge = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        var mutations = Mutations(
            of: ["\(authority)\n\(server)\n", "x\r\n\(server)", edge + edge, "\(edge)\u{2028}"], seed: seed)
        for _ in 0..<Scale.count(16_000, everyday: 1_600) / 2 {
            let bytes = mutations.next()
            guard let found = PEM.certificates(in: Data(bytes)) else { continue }
            let text = found.map {
                "-----BEGIN CERTIFICATE-----\n\($0.base64EncodedString())\n-----END CERTIFICATE-----\n"
            }
            if found.contains(where: \.isEmpty) || PEM.certificates(in: Data(text.joined().utf8)) != found {
                Issue.record("seed \(seed), input \(bytes)")
                return
            }
        }
    }
}
