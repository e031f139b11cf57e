#if os(Linux)
    internal import Foundation

    /// The body of a request while libcurl asks for it piece by piece.
    final class CurlUpload {
        enum Step {
            case bytes(Int)
            case later
            case failed
        }

        private enum Source {
            case bytes(Data)
            case stream(HTTPBodyStream, any HTTPBodyReader)
        }

        /// Bodies in memory up to this size are copied into the handle instead.
        static let smallBody = 64 * 1024

        let length: Int64?
        /// Why reading failed.
        private(set) var failure: BatonError?
        private var source: Source
        /// What a reader yielded beyond what fitted.
        private var rest = Data()
        private var position: Int64 = 0
        private var reported: Int64 = 0
        private var isClosed = false

        /// Nil for what needs no reading: no body, or a small one.
        init?(_ request: HTTPRequest) throws(BatonError) {
            let body = request.body
            if let stream = body.bodyStream {
                do {
                    source = .stream(stream, try stream.open())
                } catch {
                    throw .wrapping(error, as: .transportFailed, "the request's body could not be opened")
                }
                length = stream.length ?? request.fields[.contentLength].flatMap { Int64($0) }
            } else if let bytes = body.bytes, bytes.count > Self.smallBody {
                source = .bytes(bytes)
                length = Int64(bytes.count)
            } else {
                return nil
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, whenReady: @escaping @Sendable () -> Void) -> Step {
            switch source {
            case .bytes(let data):
                return .bytes(copy(data, from: Int(position), into: buffer))
            case .stream(_, let reader):
                if !rest.isEmpty {
                    let count = copy(rest, from: 0, into: buffer)
                    rest = Data(rest.dropFirst(count))
                    return .bytes(count)
                }
                do {
                    switch try reader.read(upTo: buffer.count, whenReady: whenReady) {
                    case .later: return .later
                    case .end: return checkedEnd()
                    case .bytes(let data):
                        let count = copy(data, from: 0, into: buffer)
                        if count < data.count { rest = Data(data.dropFirst(count)) }
                        return .bytes(count)
                    }
                } catch {
                    failure = .wrapping(error, as: .transportFailed, "the request's body could not be read")
                    return .failed
                }
            }
        }

        /// A body that ends before the length that was announced would leave the server waiting.
        private func checkedEnd() -> Step {
            guard let length, position < length else { return .bytes(0) }
            failure = BatonError(
                .transportFailed, "the request's body ended after \(position) of \(length) bytes; correct its length")
            return .failed
        }

        private func copy(_ data: Data, from offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = min(buffer.count, data.count - offset)
            guard count > 0, let base = buffer.baseAddress else { return 0 }
            data.withUnsafeBytes { base.copyMemory(from: $0.baseAddress! + offset, byteCount: count) }
            position += Int64(count)
            return count
        }

        /// Starts again, which libcurl asks for when a reused connection turned out to be dead.
        func rewind() -> Bool {
            if case .stream(let stream, let reader) = source {
                guard stream.isReplayable, let fresh = try? stream.open() else { return false }
                reader.close()
                source = .stream(stream, fresh)
                rest = Data()
            }
            position = 0
            return true
        }

        func reportProgress(to receiver: TransportReceiver) {
            guard position > reported else { return }
            reported = position
            receiver.sent(position, of: length)
        }

        func close() {
            guard !isClosed else { return }
            isClosed = true
            if case .stream(_, let reader) = source { reader.close() }
        }
    }
#endif
