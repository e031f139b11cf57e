/// Something that a cancel reaches.
protocol Cancellable: Job {
    /// Takes note that everything here is over, and adds to the walk what is under way below and what is to be done.
    ///
    /// From then on nothing is sent and no closure is called. Safe at any time and often; a thing that has not begun
    /// yet remembers it.
    func takeNote(_ walk: inout CancellationWalk)
}

/// What a cancel has still to visit, and what there is to do once everything has taken note.
struct CancellationWalk {
    /// The error with which everything ends.
    let reason: BatonError
    var rest: [any Cancellable] = []
    var actions: [@Sendable () -> Void] = []
}

/// A cancel on its way down a tree of jobs.
///
/// First everything takes note, before `begin` returns: so a slot that one branch gives back is not used by another.
/// Then, as engine work, transports and timers are stopped and the ends are told. It walks without recursion.
final class Cancellation: Job {
    private let actions: [@Sendable () -> Void]

    private init(_ actions: [@Sendable () -> Void]) {
        self.actions = actions
    }

    static func begin(
        at roots: any Cancellable..., because reason: BatonError = CallJob.cancelled, _ scheduler: any Scheduler
    ) {
        begin(at: roots, because: reason, scheduler)
    }

    static func begin(
        at roots: [any Cancellable], because reason: BatonError = CallJob.cancelled, _ scheduler: any Scheduler
    ) {
        var walk = CancellationWalk(reason: reason, rest: roots)
        while let next = walk.rest.popLast() { next.takeNote(&walk) }
        if !walk.actions.isEmpty { scheduler.post(Cancellation(walk.actions), .cancel) }
    }

    func run(_ signal: Signal) {
        for action in actions { action() }
    }
}
