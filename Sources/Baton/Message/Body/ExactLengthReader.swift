internal import Foundation

/// Lets through exactly the announced number of bytes; a body that is shorter or longer fails instead of breaking
/// the framing of the connection.
final class ExactLengthReader: HTTPBodyReader {
    private let reader: any HTTPBodyReader
    private let missing: LockBox<Int64>

    init(_ reader: any HTTPBodyReader, length: Int64) {
        self.reader = reader
        missing = LockBox(length)
    }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        let piece = try reader.read(upTo: limit, whenReady: whenReady)
        switch piece {
        case .later: break
        case .bytes(let bytes):
            let rest = missing.withLock { missing in
                missing -= Int64(bytes.count)
                return missing
            }
            if rest < 0 { throw MessageFault("body", "is longer than the length that was announced for it") }
        case .end:
            if missing.withLock({ $0 }) != 0 {
                throw MessageFault("body", "ended before the length that was announced for it")
            }
        }
        return piece
    }

    func close() { reader.close() }
}
