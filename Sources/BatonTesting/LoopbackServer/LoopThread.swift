#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Baton

/// A thread that can be waited for.
final class LoopThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The thread as a number, since its type differs between systems and need not be sendable; nil once joined.
    private let handle: LockBox<UInt?>

    init(_ run: @escaping @Sendable () -> Void) throws {
        handle = LockBox(try Self.start(Body(run)))
    }

    private static func start(_ body: Body) throws -> UInt {
        let argument = Unmanaged.passRetained(body)
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        let result = pthread_create(&thread, nil, main, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            throw Socket.StartError("pthread_create")
        }
        #if canImport(Glibc)
            return UInt(thread)
        #else
            return UInt(bitPattern: thread)
        #endif
    }

    #if canImport(Darwin)
        private static let main: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
            Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }
    #else
        private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            guard let argument else { return nil }
            Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }
    #endif

    /// Waits until the thread has ended; from the thread itself, lets it end alone. The second call does nothing.
    func join() {
        let number = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let number else { return }
        #if canImport(Glibc)
            let thread = pthread_t(number)
        #else
            guard let thread = pthread_t(bitPattern: number) else { return }
        #endif
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }
}
