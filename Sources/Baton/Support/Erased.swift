/// Gives a value that travelled without its type its type back.
@usableFromInline
package enum Erased {
    /// The value as a `T`; nil when it is none, which no plan that compiles brings about.
    @inlinable
    @inline(__always)
    package static func value<T>(_ value: any Sendable, as type: T.Type) -> T? {
        func open<V: Sendable>(_ value: V) -> T? {
            // The types are the same in all but a few cases (existentials, optionals), so the cast is not needed.
            if V.self == T.self { return unsafeBitCast(value, to: T.self) }
            return value as? T
        }
        return open(value)
    }
}
