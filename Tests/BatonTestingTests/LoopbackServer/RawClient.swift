#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import BatonTesting
import Foundation

/// A client made of nothing but a socket, so that the server is tested by what is on the wire. It blocks; a read
/// that gets nothing for a minute throws.
final class RawClient {
    struct Failure: Error {
        let what: String
    }

    /// How a connection ended.
    enum Ending: Equatable {
        case closed
        case reset
    }

    private let descriptor: Int32
    private var buffered = Data()

    init(_ server: LoopbackServer) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(server.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure(what: "connect failed with \(errno)") }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    func send(_ data: Data) throws {
        var sent = 0
        while sent < data.count {
            let count = data.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, 0)
                #elseif canImport(Glibc)
                    Glibc.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                #elseif canImport(Musl)
                    Musl.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                #endif
            }
            if count < 0 { throw Failure(what: "send failed with \(errno)") }
            sent += count
        }
    }

    /// Sends as much as the system takes without waiting, and returns how much that was.
    func sendWithoutWaiting(_ data: Data) -> Int {
        var sent = 0
        while sent < data.count {
            let count = data.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_DONTWAIT))
                #elseif canImport(Glibc)
                    Glibc.send(
                        descriptor, bytes.baseAddress! + sent, bytes.count - sent,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                #elseif canImport(Musl)
                    Musl.send(
                        descriptor, bytes.baseAddress! + sent, bytes.count - sent,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                #endif
            }
            if count <= 0 { break }
            sent += count
        }
        return sent
    }

    func get(_ target: String, fields: [String] = []) throws -> RawReply {
        try request("GET", target, fields: fields)
    }

    func request(_ method: String, _ target: String, fields: [String] = [], body: String? = nil) throws -> RawReply {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        return try readReply(to: method)
    }

    /// Says that no more will be sent.
    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads one reply: the head, and as much of a body as the head says.
    func readReply(to method: String = "GET") throws -> RawReply {
        let end = Data("\r\n\r\n".utf8)
        while buffered.range(of: end) == nil {
            guard try fill() == nil else { throw Failure(what: "the connection ended in the head") }
        }
        let headEnd = buffered.range(of: end)!
        var reply = RawReply(head: String(decoding: buffered[..<headEnd.lowerBound], as: UTF8.self))
        buffered.removeSubrange(..<headEnd.upperBound)
        if method == "HEAD" || reply.status < 200 || reply.status == 204 || reply.status == 304 { return reply }
        if reply.value("Transfer-Encoding") == "chunked" {
            while true {
                let chunk = try readBytes(Int(try readLine(), radix: 16) ?? -1)
                reply.chunks.append(chunk)
                guard try readLine().isEmpty else { throw Failure(what: "a chunk is longer than its size") }
                if chunk.isEmpty { break }
            }
            reply.chunks.removeLast()
            reply.body = reply.chunks.reduce(Data(), +)
        } else if let length = reply.value("Content-Length").flatMap({ Int($0) }) {
            reply.body = try readBytes(length)
        } else {
            reply.body = try readToEnd().data
        }
        return reply
    }

    /// Reads until the connection ends.
    func readToEnd() throws -> (data: Data, ending: Ending) {
        while true {
            guard let ending = try fill() else { continue }
            defer { buffered = Data() }
            return (buffered, ending)
        }
    }

    /// Reads and forgets so many bytes.
    func skip(_ count: Int) throws -> PatternCheck {
        var check = PatternCheck()
        while check.count < count {
            if buffered.isEmpty, try fill() != nil { throw Failure(what: "the connection ended early") }
            let part = buffered.prefix(count - check.count)
            check.add(part)
            buffered = Data(buffered.dropFirst(part.count))
        }
        return check
    }

    func readBytes(_ count: Int) throws -> Data {
        guard count >= 0 else { throw Failure(what: "no size") }
        while buffered.count < count {
            if try fill() != nil { throw Failure(what: "the connection ended after \(buffered.count) bytes") }
        }
        defer { buffered = Data(buffered.dropFirst(count)) }
        return Data(buffered.prefix(count))
    }

    func readLine() throws -> String {
        let end = Data("\r\n".utf8)
        while buffered.range(of: end) == nil {
            if try fill() != nil { throw Failure(what: "the connection ended in a line") }
        }
        let range = buffered.range(of: end)!
        defer { buffered = Data(buffered[range.upperBound...]) }
        return String(decoding: buffered[..<range.lowerBound], as: UTF8.self)
    }

    /// Takes what has come, waiting for something; returns how the connection ended when it has.
    private func fill() throws -> Ending? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 {
            buffered.append(contentsOf: chunk[..<count])
            return nil
        }
        if count == 0 { return .closed }
        if errno == ECONNRESET { return .reset }
        throw Failure(what: "recv failed with \(errno)")
    }
}

/// A reply as it was on the wire.
struct RawReply {
    let statusLine: String
    let fieldLines: [String]
    var chunks: [Data] = []
    var body = Data()

    init(head: String) {
        var lines = head.components(separatedBy: "\r\n")
        statusLine = lines.removeFirst()
        fieldLines = lines
    }

    var status: Int { Int(statusLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }

    func values(_ name: String) -> [String] {
        fieldLines.filter { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    func value(_ name: String) -> String? { values(name).first }
}

/// Counts bytes of the pattern body and compares each with what it must be.
struct PatternCheck {
    private(set) var count = 0
    private(set) var isPattern = true

    mutating func add(_ data: Data) {
        isPattern = isPattern && data == LoopbackServer.pattern(Int64(count)..<Int64(count + data.count))
        count += data.count
    }
}
