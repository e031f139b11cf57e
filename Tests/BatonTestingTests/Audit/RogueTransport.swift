import Baton
import Foundation

/// A transport that breaks the rules on purpose; its delays are work of the client's scheduler.
final class RogueTransport: ScheduledTransport {
    enum Fault: String, CaseIterable, Sendable {
        case none
        /// Two ends, from inside `send`.
        case twiceInsideSend
        /// Two ends, a while after `send`.
        case twiceLater
        /// A head after the end.
        case goesOn
        /// The answer to a cancel comes twice.
        case twiceAfterCancel
        /// The answer to a cancel comes after two seconds.
        case lateAfterCancel
        /// A cancel is not answered.
        case deafToCancel
        /// The end never comes, so that the attempt times out, and then it comes twice.
        case twiceAfterTimeout
    }

    private let scheduler = LockBox<any Scheduler>(LiveScheduler.shared)
    private let fault: Fault

    init(_ fault: Fault) {
        self.fault = fault
    }

    func attach(to scheduler: any Scheduler) { self.scheduler.withLock { $0 = scheduler } }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let exchange = Exchange(receiver, fault, scheduler.withLock { $0 })
        exchange.begin()
        return exchange
    }

    private final class Exchange: Transmission, Job {
        private static let reply: UInt8 = 0
        private static let answerCancel: UInt8 = 1

        private let receiver: TransportReceiver
        private let fault: Fault
        private let scheduler: any Scheduler
        private let timer = LockBox<TimerHandle?>(nil)
        private let isOver = LockBox(false)

        init(_ receiver: TransportReceiver, _ fault: Fault, _ scheduler: any Scheduler) {
            (self.receiver, self.fault, self.scheduler) = (receiver, fault, scheduler)
        }

        func begin() {
            switch fault {
            case .twiceInsideSend: finish(2)
            case .twiceAfterTimeout: break
            default:
                let handle = scheduler.schedule(
                    self, Signal(kind: Self.reply), at: scheduler.now.advanced(by: .seconds(5)))
                timer.withLock { $0 = handle }
            }
        }

        private func finish(_ times: Int) {
            isOver.withLock { $0 = true }
            for _ in 0..<times { receiver.complete(HTTPResponse(status: 200)) }
        }

        func run(_ signal: Signal) {
            if signal.kind == Self.answerCancel { return receiver.fail(BatonError(.cancelled)) }
            finish(fault == .twiceLater ? 2 : 1)
            if fault == .goesOn { receiver.head(HTTPResponseHead(status: 200)) }
        }

        func cancel() {
            guard !isOver.withLock({ $0 }) else { return }
            if let handle = timer.withLock({ $0 }) { scheduler.cancel(handle) }
            switch fault {
            case .deafToCancel: break
            case .lateAfterCancel:
                _ = scheduler.schedule(
                    self, Signal(kind: Self.answerCancel), at: scheduler.now.advanced(by: .seconds(2)))
            case .twiceAfterCancel, .twiceAfterTimeout:
                receiver.fail(BatonError(.cancelled))
                receiver.complete(HTTPResponse(status: 200))
            default: receiver.fail(BatonError(.cancelled))
            }
        }
    }
}
