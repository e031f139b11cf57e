#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The socket calls that differ between systems, or that would clutter the loop.
enum Socket {
    /// What a read or a write came to.
    enum Progress {
        case bytes(Int)
        case wouldBlock
        case end
        case broken
    }

    /// A listener on a port of 127.0.0.1 that the system chooses.
    static func listen() throws -> (descriptor: Int32, port: Int) {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw StartError("socket") }
        #if !canImport(Glibc)
            setNonBlocking(descriptor)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = 0
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listenOn(descriptor)
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard bound else {
            let error = StartError("bind")
            close(descriptor)
            throw error
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func listenOn(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            Darwin.listen(descriptor, 4096) == 0
        #elseif canImport(Glibc)
            Glibc.listen(descriptor, 4096) == 0
        #elseif canImport(Musl)
            Musl.listen(descriptor, 4096) == 0
        #endif
    }

    /// The next connection that waits, ready for the loop; nil when there is none or none can be had.
    static func acceptNext(_ listener: Int32, bufferBytes: Int?) -> Int32? {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        setNonBlocking(descriptor)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        #if canImport(Darwin)
            set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
        if let bufferBytes {
            set(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: bufferBytes))
            set(descriptor, SOL_SOCKET, SO_RCVBUF, Int32(clamping: bufferBytes))
        }
        return descriptor
    }

    /// Makes calls on the descriptor return at once, and keeps it out of child processes.
    static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Progress {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken
        }
    }

    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Progress {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken
        }
    }

    /// Says that nothing more will be sent; the peer reads an end.
    static func finishWriting(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes so that the peer is told of a reset and not of an end.
    static func reset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    /// What poll is asked for to be told that the peer has ended its side, where no input is wanted.
    static var peerEnded: Int16 {
        #if os(Linux)
            // POLLRDHUP, which the module map does not show.
            0x2000
        #else
            // POLLHUP is reported unasked there.
            0
        #endif
    }

    /// The monotonic clock in nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Socket {
    /// Why a server could not start.
    struct StartError: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) {
            description = "the loopback server could not start: \(call) failed with error \(errno)"
        }
    }
}

extension Socket {
    /// Closes the descriptor.
    static func closeNow(_ descriptor: Int32) {
        close(descriptor)
    }
}
