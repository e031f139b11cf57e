#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Baton

/// A pipe to itself that makes a loop return from its wait.
final class Waker: Sendable {
    private struct Pipe {
        var ends: (read: Int32, write: Int32)?
        var isPending = false
    }

    private let pipe: LockBox<Pipe>

    init() throws {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let result = Darwin.pipe(&ends)
        #elseif canImport(Glibc)
            let result = Glibc.pipe(&ends)
        #elseif canImport(Musl)
            let result = Musl.pipe(&ends)
        #endif
        guard result == 0 else { throw Socket.StartError("pipe") }
        Socket.setNonBlocking(ends[0])
        Socket.setNonBlocking(ends[1])
        pipe = LockBox(Pipe(ends: (ends[0], ends[1])))
    }

    /// The end that the loop waits on; -1 once it is closed.
    var descriptor: Int32 { pipe.withLock { $0.ends?.read ?? -1 } }

    /// Wakes the loop. Safe from any thread, and after the end.
    func wake() {
        // The write is made under the lock, so that it cannot meet a descriptor that was closed and given away.
        pipe.withLock { pipe in
            guard let ends = pipe.ends, !pipe.isPending else { return }
            pipe.isPending = true
            var byte: UInt8 = 1
            _ = write(ends.write, &byte, 1)
        }
    }

    /// Takes the wake-ups that have come so far.
    func drain() {
        pipe.withLock { pipe in
            guard let ends = pipe.ends else { return }
            pipe.isPending = false
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = withUnsafeMutableBytes(of: &bytes) { read(ends.read, $0.baseAddress, $0.count) }
        }
    }

    func closePipe() {
        pipe.withLock { pipe in
            guard let ends = pipe.ends else { return }
            pipe.ends = nil
            close(ends.read)
            close(ends.write)
        }
    }
}
