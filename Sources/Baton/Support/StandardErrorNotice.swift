internal import Foundation

/// A line on standard error, for what nobody may miss although nobody asked for it.
enum StandardErrorNotice {
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("Baton: \(text)\n".utf8))
    }
}
