#if os(Linux)
    import Foundation

    /// A TLS server of a test, with certificates of its own: `openssl s_server`, which answers every GET with a page.
    final class TLSServer: Sendable {
        /// Certificates and keys, made by `openssl`.
        struct Identity: Sendable {
            let certificate: URL
            let key: URL
        }

        private static let program = Tool.find("openssl")
        static var isAvailable: Bool { program != nil }

        let port: Int
        private let process: Process

        init(_ identity: Identity, _ arguments: [String] = []) throws {
            let output: FileHandle
            (process, output) = try Tool.start(
                Self.program,
                ["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", identity.certificate.path]
                    + ["-key", identity.key.path] + arguments)
            var text = ""
            var found: Int?
            while found == nil {
                let bytes = output.availableData
                if bytes.isEmpty { throw CocoaError(.executableLoad) }
                text += String(decoding: bytes, as: UTF8.self)
                let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first {
                    $0.hasPrefix("ACCEPT")
                }
                found = line?.split(separator: ":").last.flatMap { Int($0) }
            }
            port = found ?? 0
        }

        /// Nobody waits for its end: that would hold a thread which the tests share.
        func stop() { Tool.end(process) }

        @discardableResult
        static func run(_ arguments: [String], input: Data? = nil) throws -> Data {
            let entry = Pipe()
            let (process, output) = try Tool.start(program, arguments, input: entry)
            if let input { entry.fileHandleForWriting.write(input) }
            try entry.fileHandleForWriting.close()
            // Its output ends when it does.
            return withExtendedLifetime(process) { output.readDataToEndOfFile() }
        }

        /// A certificate that vouches for itself; `newKey` is what `openssl req -newkey` is told.
        static func makeIdentity(
            in folder: Folder, _ name: String, names: String,
            newKey: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        ) throws -> Identity {
            let (certificate, key) = (folder.file("\(name).pem"), folder.file("\(name).key"))
            try run(
                ["req", "-x509", "-newkey"] + newKey + [
                    "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)", "-keyout",
                    key.path, "-out", certificate.path,
                ])
            return Identity(certificate: certificate, key: key)
        }

        /// The public key in DER: its SubjectPublicKeyInfo.
        static func publicKey(_ identity: Identity) throws -> Data {
            let pem = try run(["x509", "-in", identity.certificate.path, "-pubkey", "-noout"])
            return try run(["pkey", "-pubin", "-outform", "der"], input: pem)
        }

        /// The public key as it is pinned.
        static func pin(_ identity: Identity) throws -> String {
            let hash = try run(["dgst", "-sha256", "-binary"], input: publicKey(identity))
            return "sha256//" + hash.base64EncodedString()
        }
    }
#endif
