extension Plan {
    /// Goes on with the plan that `derive` makes of this one's output.
    ///
    /// The closure may branch, between plans of one type or, declared as `-> any Plan<T>`, of several; return
    /// `Chain.value` where there is nothing to send; or return an optional plan, whose output is then optional and
    /// nil without sending anything. What it throws fails the chain at this step.
    @inlinable
    public func then<Next: Plan>(
        _ derive: @escaping @Sendable (Output) throws -> Next
    ) -> Chain<Next.Output> {
        chain.appending(
            .then(.init(to: Next.self) { value, context in try derive(try unerased(value))._node(in: context) }))
    }

    /// Goes on with the plan that `derive` makes of this one's output, after whatever it awaits.
    ///
    /// The closure runs in a Swift task of its own, which is cancelled with the run.
    @inlinable
    public func then<Next: Plan>(
        _ derive: @escaping @Sendable (Output) async throws -> Next
    ) -> Chain<Next.Output> {
        chain.appending(
            .thenAsync(
                .init(to: Next.self) { value, context in try await derive(try unerased(value))._node(in: context) }))
    }

    /// Goes on with a plan of any type that yields `Next`.
    @inlinable
    public func then<Next: Sendable>(
        _ derive: @escaping @Sendable (Output) throws -> any Plan<Next>
    ) -> Chain<Next> {
        chain.appending(
            .then(.init(to: Next.self) { value, context in try derive(try unerased(value))._node(in: context) }))
    }

    /// Goes on with a plan of any type that yields `Next`, after whatever `derive` awaits.
    @inlinable
    public func then<Next: Sendable>(
        _ derive: @escaping @Sendable (Output) async throws -> any Plan<Next>
    ) -> Chain<Next> {
        chain.appending(
            .thenAsync(
                .init(to: Next.self) { value, context in try await derive(try unerased(value))._node(in: context) }))
    }

    /// Goes on with the plan that `derive` makes of this one's output, and yields both outputs.
    @inlinable
    public func thenKeeping<Next: Plan>(
        _ derive: @escaping @Sendable (Output) throws -> Next
    ) -> Chain<(Output, Next.Output)> {
        then { value in try derive(value).chain.map { (value, $0) } }
    }

    /// Goes on with the plan that `derive` makes of this one's output, after whatever it awaits, and yields both.
    @inlinable
    public func thenKeeping<Next: Plan>(
        _ derive: @escaping @Sendable (Output) async throws -> Next
    ) -> Chain<(Output, Next.Output)> {
        then { value in try await derive(value).chain.map { (value, $0) } }
    }

    /// Yields what `transform` makes of the output. What it throws fails the step before.
    @inlinable
    public func map<Next: Sendable>(
        _ transform: @escaping @Sendable (Output) throws -> Next
    ) -> Chain<Next> {
        chain.appending(.map(.init(to: Next.self) { value in try transform(try unerased(value)) }))
    }
}

/// The value with its type, which the compiler has checked when the chain was built.
@inlinable
@inline(__always)
func unerased<Value>(_ value: any Sendable) throws -> Value {
    guard let value = Erased.value(value, as: Value.self) else {
        throw BatonError(.deriveFailed, "a step yielded no \(Value.self)")
    }
    return value
}
