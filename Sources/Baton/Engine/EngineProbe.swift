/// Is told what an engine decides, by those who check it under test; an engine without one pays a branch.
///
/// Much of it is told under the lock of the job that decides, so that the order in which it is heard is the order of
/// the decisions. A probe therefore only takes note: it calls nothing of the engine, and returns soon.
package protocol EngineProbe: AnyObject, Sendable {
    func note(_ step: EngineStep)
}

/// What happens in an engine, as its probe is told it.
package enum EngineStep: Sendable {
    case runBegan(UInt64, root: any Job)
    /// The cancel has reached everything that the run has under way.
    case runCancelled(UInt64)
    /// The run's result is decided.
    case runEnded(UInt64)
    /// Those who wait are told the result.
    case runCompleted(UInt64)

    /// An item takes one of the places of its batch.
    case itemOpened(ProbedItem, limit: Int)
    /// It gives the place back; an item that is begun again is opened again.
    case itemClosed(ProbedItem)

    case slotTaken(limit: Int)
    case slotReturned

    /// A request goes to the transport. Undos are what may still be sent after a cancel.
    case exchangeSent(ProbedExchange, isUndo: Bool)
    /// The engine took the transport's end for the attempt's.
    case exchangeLanded(ProbedExchange)
    /// The engine ended the attempt without the transport: by cancel, timeout or refusal.
    case exchangeGivenUp(ProbedExchange)
    /// The transport did not end it within the second that it had, and the slot was taken back.
    case exchangeForfeited(ProbedExchange)
    /// The transport told the engine something about it, whether or not the engine wanted to know.
    case transportTold(ProbedExchange, isEnd: Bool)
}

/// One exchange, as a probe tells it from others.
package struct ProbedExchange: Hashable, Sendable {
    package var run: UInt64
    package var call: ObjectIdentifier
    package var token: UInt64

    package init(run: UInt64, call: ObjectIdentifier, token: UInt64) {
        self.run = run
        self.call = call
        self.token = token
    }
}

/// One item of a batch, as a probe tells it from others.
package struct ProbedItem: Hashable, Sendable {
    package var run: UInt64
    package var batch: ObjectIdentifier
    package var index: Int

    package init(run: UInt64, batch: ObjectIdentifier, index: Int) {
        self.run = run
        self.batch = batch
        self.index = index
    }
}

/// A job that works for one run; a timer that holds one is told by it whose it is.
package protocol RunPart: Job {
    var run: RunCore { get }
}
