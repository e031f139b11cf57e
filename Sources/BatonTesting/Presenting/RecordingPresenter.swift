public import Baton

/// A presenter that keeps what it is told, and whether that comes in pairs.
///
/// ```swift
/// let presenter = RecordingPresenter()
/// let client = Client(baseURL: "http://mock", transport: mock, observers: [LoadingIndicator(presenter)])
/// …
/// #expect(presenter.calls == [.showLoading("list"), .hideLoading("list")])
/// ```
public final class RecordingPresenter: Presenter {
    /// What was asked of the presenter.
    public enum Call: Sendable, Hashable {
        /// To show that something is loading, in a place.
        case showLoading(String?)
        /// To hide it again.
        case hideLoading(String?)
        /// To show a notice.
        case notice(Notice)
    }

    private let record = LockBox<[Call]>([])

    /// A presenter that was asked for nothing yet.
    public init() {}

    public func showLoading(in place: String?) { record.withLock { $0.append(.showLoading(place)) } }
    public func hideLoading(in place: String?) { record.withLock { $0.append(.hideLoading(place)) } }
    public func show(_ notice: Notice) { record.withLock { $0.append(.notice(notice)) } }

    /// Everything so far, in order.
    public var calls: [Call] { record.withLock { $0 } }

    /// The messages so far, in order.
    public var notices: [Notice] {
        calls.compactMap { call in
            if case .notice(let notice) = call { notice } else { nil }
        }
    }

    /// Whether each beginning has its end, at each place, in turns.
    public var isPaired: Bool {
        var open: Set<String?> = []
        for call in calls {
            switch call {
            case .showLoading(let place): if !open.insert(place).inserted { return false }
            case .hideLoading(let place): if open.remove(place) == nil { return false }
            case .notice: break
            }
        }
        return open.isEmpty
    }
}
