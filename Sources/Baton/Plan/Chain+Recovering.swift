extension Plan {
    /// Goes on, after a failure of this plan, with the plan that `derive` makes of the error.
    ///
    /// It yields the same output. A cancelled run and one that is past its deadline are not recovered. To let an error
    /// pass, throw it again: it stays as it was.
    ///
    /// ```swift
    /// GetProfile().recover { error in
    ///     guard error.response?.status == 404 else { throw error }
    ///     return CreateProfile()
    /// }
    /// ```
    public func recover<Other: Plan>(
        _ derive: @escaping @Sendable (BatonError) throws -> Other
    ) -> Chain<Output> where Other.Output == Output {
        chain.appending(.recover(.init { error, context in try derive(error)._node(in: context) }))
    }

    /// Goes on, after any failure of this plan but a cancellation, with another plan.
    public func fallback<Other: Plan>(to other: Other) -> Chain<Output> where Other.Output == Output {
        recover { _ in other }
    }

    /// Yields `value` after any failure of this plan but a cancellation.
    public func fallback(to value: Output) -> Chain<Output> {
        recover { _ in Chain.value(value) }
    }

    /// Yields how the plan ended, and so never fails, unless it is cancelled: the value or the error as an outcome.
    ///
    /// ```swift
    /// zip(GetProfile(t).collected(), GetCart(t).collected())    // waits for both, whatever they do
    /// ```
    public func collected() -> Chain<Result<Output, BatonError>> {
        map { Result<Output, BatonError>.success($0) }.recover { Chain.value(.failure($0)) }
    }

    /// Registers how to undo this step once it has succeeded.
    ///
    /// When a later step fails, or the run is cancelled, the undos of the steps that had succeeded run one after the
    /// other, last step first. They run to their end also in a run that is cancelled, each at most for `deadline`
    /// (default 30 s). The run then ends with the error that caused it; undos that failed stand in
    /// `error.undoFailures`. Steps within parts, such as those of a zip, the items of a batch or shared parts, are undone
    /// too when something outside the part fails; they count as done when their part was. Nothing is undone for a
    /// failure that is recovered.
    public func undo<Undo: Plan>(
        deadline: Duration = .seconds(30), _ derive: @escaping @Sendable (Output) throws -> Undo
    ) -> Chain<Output> {
        chain.appending(
            .undo(
                .init(to: Undo.self) { value, context in
                    guard let value = Erased.value(value, as: Output.self) else {
                        return _PlanNode(content: .value(()))
                    }
                    return try derive(value)._node(in: context)
                }, deadline: deadline))
    }
}
