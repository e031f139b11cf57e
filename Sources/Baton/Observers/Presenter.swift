internal import Dispatch

/// Shows to the user what a client does; the app's own, over whatever it draws with.
///
/// Everything is called on the main queue, in order. Places are the app's names, as requests give them in their
/// ``Presentation``; nil is the usual place.
public protocol Presenter: Sendable {
    /// Something is loading; called once until the `hideLoading` that belongs to it.
    func showLoading(in place: String?)
    /// Nothing is loading there any more.
    func hideLoading(in place: String?)
    /// A message for the user.
    func show(_ notice: Notice)
}

extension Presenter {
    public func showLoading(in place: String?) {}
    public func hideLoading(in place: String?) {}
    public func show(_ notice: Notice) {}
}

/// A message for the user about a run that is over.
public struct Notice: Sendable, Hashable {
    /// What the notice is about.
    public enum Kind: Sendable {
        /// It failed.
        case failure
        /// It succeeded, and there is nothing to show.
        case empty
    }

    /// What it is about.
    public let kind: Kind
    /// What is shown.
    public let message: String
    /// The app's name of the place to show it in; nil leaves it to the presenter.
    public let place: String?
    /// What kind of failure it is; nil when it is none.
    public let code: BatonError.Code?
    /// The status of the response; nil without one.
    public let status: Int?

    /// A notice, for a presenter of your own to be tested with.
    public init(_ kind: Kind, _ message: String, place: String?, code: BatonError.Code? = nil, status: Int? = nil) {
        self.kind = kind
        self.message = message
        self.place = place
        self.code = code
        self.status = status
    }
}

/// Calls to a presenter, on the main queue in the order in which they were decided.
struct PresenterQueue: Sendable {
    typealias Call = @Sendable (any Presenter) -> Void

    private let calls = LockBox<[Box]>([])
    private let presenter: any Presenter

    private struct Box: Sendable {
        let call: Call
    }

    init(_ presenter: any Presenter) { self.presenter = presenter }

    /// May be called under a lock, so that the order of calls is that of decisions; `deliver` follows outside.
    func add(_ call: @escaping Call) { calls.withLock { $0.append(Box(call: call)) } }

    /// Makes one call for each that was added.
    func deliver(_ count: Int, _ scheduler: any Scheduler) {
        for _ in 0..<count {
            scheduler.deliver(on: .main) {
                let next = calls.withLock { calls in calls.isEmpty ? nil : calls.removeFirst() }
                next?.call(presenter)
            }
        }
    }
}
