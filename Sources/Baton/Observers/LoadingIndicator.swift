/// Has a presenter show that something is loading, from the beginning of a run to its end, whatever that is.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com", observers: [LoadingIndicator(presenter)])
/// ```
/// Runs at one place are counted, so `showLoading` and `hideLoading` come in pairs. Where and whether a run is shown
/// stands in its request's or plan's `presentation`.
public final class LoadingIndicator: EventObserver {
    private struct State {
        var places: [String?: Entry] = [:]
    }

    private struct Entry {
        var state: LoadingState
        var timer: TimerHandle?
        var token: UInt64 = 0
    }

    private let delay: Duration
    private let minimum: Duration
    private let queue: PresenterQueue
    private let state = LockBox(State())

    /// - Parameters:
    ///   - delay: how long a run takes before it is shown; shorter ones never are. Default: 300 ms.
    ///   - minimum: how long it is shown at least, so that it does not flicker. Default: 500 ms.
    public init(
        _ presenter: any Presenter, delay: Duration = .milliseconds(300), minimum: Duration = .milliseconds(500)
    ) {
        self.delay = delay
        self.minimum = minimum
        queue = PresenterQueue(presenter)
    }

    public func observe(_ event: Event) {}

    public func _observe(_ event: Event, _ setting: _EventSetting) {
        switch event {
        case .runStarted(let run) where run.presentation?.loading != .hidden:
            change(run.presentation?.place, setting.scheduler) { $0.begin(at: $1) }
        case .runEnded(let run, _) where run.presentation?.loading != .hidden:
            change(run.presentation?.place, setting.scheduler) { $0.end(at: $1) }
        default: break
        }
    }

    /// How many runs are loading, wherever they are shown.
    public var count: Int { state.withLock { $0.places.values.reduce(0) { $0 + $1.state.count } } }

    private func change(
        _ place: String?, _ scheduler: any Scheduler, _ decide: (inout LoadingState, Instant) -> LoadingState.Action
    ) {
        let now = scheduler.now
        let calls = state.withLock { state in
            var entry = state.places[place] ?? Entry(state: LoadingState(delay: delay, minimum: minimum))
            let action = decide(&entry.state, now)
            // The locks of the timers and of the calls to come within ours: they call nobody.
            if action != .nothing, let timer = entry.timer {
                scheduler.cancel(timer)
                entry.timer = nil
            }
            var calls = 1
            switch action {
            case .show: queue.add { $0.showLoading(in: place) }
            case .hide: queue.add { $0.hideLoading(in: place) }
            case .wait(let instant):
                calls = 0
                entry.token += 1
                entry.timer = scheduler.schedule(
                    Look(self, place, scheduler), Signal(kind: 0, token: entry.token), at: instant)
            case .forget, .nothing: calls = 0
            }
            let isOver = entry.state.phase == .hidden && entry.state.count == 0
            state.places[place] = isOver ? nil : entry
            return calls
        }
        queue.deliver(calls, scheduler)
    }

    /// A timer of one place.
    private final class Look: Job {
        private let indicator: LoadingIndicator
        private let place: String?
        private let scheduler: any Scheduler

        init(_ indicator: LoadingIndicator, _ place: String?, _ scheduler: any Scheduler) {
            self.indicator = indicator
            self.place = place
            self.scheduler = scheduler
        }

        func run(_ signal: Signal) {
            let isCurrent = indicator.state.withLock { state in
                guard state.places[place]?.token == signal.token, state.places[place]?.timer != nil else {
                    return false
                }
                state.places[place]?.timer = nil
                return true
            }
            if isCurrent { indicator.change(place, scheduler) { $0.look(at: $1) } }
        }
    }
}
