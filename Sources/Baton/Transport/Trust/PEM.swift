internal import Foundation

/// Certificates in text (RFC 7468).
enum PEM {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The certificates of a file in DER, in their order.
    ///
    /// - Throws: `invalidConfiguration` where the file cannot be read, or has no certificate or a broken one.
    static func certificates(ofFile path: String) throws(BatonError) -> [Data] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw BatonError(.invalidConfiguration, "certificateAuthorityFile cannot be read: \(path)")
        }
        guard let found = certificates(in: bytes) else {
            throw BatonError(.invalidConfiguration, "certificateAuthorityFile has a broken PEM certificate: \(path)")
        }
        guard !found.isEmpty else {
            throw BatonError(.invalidConfiguration, "certificateAuthorityFile has no PEM certificate: \(path)")
        }
        return found
    }

    /// The certificates of a text in DER, in their order; nil where one does not end, or is no Base64. What stands
    /// outside of them, keys and remarks, is passed over.
    static func certificates(in bytes: Data) -> [Data]? {
        var found: [Data] = []
        var text: String?
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            switch line {
            case begin:
                guard text == nil else { return nil }
                text = ""
            case end:
                guard let base64 = text, let certificate = Data(base64Encoded: base64), !certificate.isEmpty else {
                    return nil
                }
                found.append(certificate)
                text = nil
            default: text?.append(line)
            }
        }
        return text == nil ? found : nil
    }
}
