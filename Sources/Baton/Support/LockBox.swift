#if canImport(Darwin)
    internal import Darwin
    private typealias Primitive = os_unfair_lock
#elseif canImport(Glibc)
    internal import Glibc
    private typealias Primitive = pthread_mutex_t
#elseif canImport(Musl)
    internal import Musl
    private typealias Primitive = pthread_mutex_t
#endif

/// A value behind a lock; the only place where checked concurrency is set aside.
///
/// The state and the lock share one allocation, and the state is reached through a pointer, so an access costs
/// the lock and nothing else. The lock is not recursive: decide inside `withLock`, act after it. In particular,
/// no user code, transport call or continuation runs inside the closure.
package struct LockBox<State>: @unchecked Sendable {
    private final class Storage: ManagedBuffer<State, Primitive> {
        deinit {
            // The state is the buffer's header, which the superclass destroys.
            withUnsafeMutablePointerToElements { lock in
                #if !canImport(Darwin)
                    pthread_mutex_destroy(lock)
                #endif
                lock.deinitialize(count: 1)
            }
        }
    }

    private let storage: ManagedBuffer<State, Primitive>

    package init(_ state: State) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                lock.initialize(to: Primitive())
                #if !canImport(Darwin)
                    pthread_mutex_init(lock, nil)
                #endif
            }
            return state
        }
    }

    /// Runs `body` with exclusive access to the state.
    @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (state, lock) = storage.withUnsafeMutablePointers { ($0, $1) }
        #if canImport(Darwin)
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
        #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
        #endif
        return try withExtendedLifetime(storage) { () throws(Failure) -> Result in try body(&state.pointee) }
    }
}
