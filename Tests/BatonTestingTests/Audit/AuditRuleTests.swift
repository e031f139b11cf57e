import Baton
import Testing

@testable import BatonTesting

/// Faults that no engine of ours brings about, told to the audit as a faulty engine would tell them.
@Suite("Audit: what it reports")
struct AuditRuleTests {
    private final class Root: Job {
        func run(_ signal: Signal) {}
    }

    private let audit = Audit()
    private let root = Root()
    private let batch = Root()

    private func tell(_ steps: EngineStep...) {
        for step in steps { audit.log.note(step) }
    }

    private func exchange(_ token: UInt64 = 1) -> ProbedExchange {
        ProbedExchange(run: 7, call: ObjectIdentifier(root), token: token)
    }

    private func item(_ index: Int) -> ProbedItem {
        ProbedItem(run: 7, batch: ObjectIdentifier(batch), index: index)
    }

    private func wholeRun() {
        tell(.runBegan(7, root: Root()), .slotTaken(limit: 1), .exchangeSent(exchange(), isUndo: false))
        tell(.transportTold(exchange(), isEnd: true), .exchangeLanded(exchange()), .slotReturned)
        tell(.runEnded(7), .runCompleted(7))
    }

    @Test("Nothing of a run that went well")
    func fine() throws {
        wholeRun()
        #expect(audit.violations == [])
        #expect(audit.counts == (runs: 1, items: 0, exchanges: 1))
        try audit.verify()
    }

    @Test("A run that completed twice, or never")
    func runs() {
        wholeRun()
        tell(.runEnded(7), .runCompleted(7), .runBegan(8, root: Root()))
        #expect(audit.violations == ["run 7 ended twice", "run 7 completed twice", "run 8 never completed"])
        #expect(throws: Audit.Failure.self) { try audit.verify() }
    }

    @Test("An item that completed twice, never, or was begun twice")
    func items() {
        tell(.runBegan(7, root: Root()), .itemOpened(item(0), limit: 2), .itemOpened(item(1), limit: 2))
        tell(.itemClosed(item(0)), .itemClosed(item(0)), .itemOpened(item(1), limit: 2))
        tell(.runEnded(7), .runCompleted(7), .itemOpened(item(2), limit: 2))
        #expect(
            audit.violations == [
                "item 0 of a batch of run 7 completed twice",
                "item 1 of a batch of run 7 was begun while it was under way",
                "run 7 began item 2 of a batch after its end",
                "item 1 of a batch of run 7 never completed", "item 2 of a batch of run 7 never completed",
            ])
    }

    @Test("More items open than the batch allows")
    func batchLimit() {
        tell(.runBegan(7, root: Root()), .itemOpened(item(0), limit: 1), .itemOpened(item(1), limit: 1))
        #expect(audit.violations.first == "2 items of a batch of run 7 were open, with a limit of 1")
    }

    @Test("More slots taken than the client allows, slots that do not come back, and slots that come back twice")
    func slots() {
        tell(.slotTaken(limit: 1), .slotTaken(limit: 1))
        #expect(
            audit.violations == [
                "2 requests had a slot at once, with a limit of 1", "2 slots did not come back",
                "the queue counts 0 slots as taken where requests hold 2",
            ])
        tell(.slotReturned, .slotReturned, .slotReturned)
        #expect(audit.violations.last == "a slot was given back twice")
    }

    @Test("A request without a slot")
    func withoutSlot() {
        tell(.runBegan(7, root: Root()), .exchangeSent(exchange(), isUndo: false))
        #expect(audit.violations.first == "run 7 sent a request without a slot")
    }

    @Test("A request after a cancel, unless it is an undo, and one after the end")
    func afterCancel() {
        tell(.runBegan(7, root: Root()), .runCancelled(7), .slotTaken(limit: 9), .slotTaken(limit: 9))
        tell(.exchangeSent(exchange(1), isUndo: true))
        #expect(!audit.violations.contains { $0.contains("cancelled") })
        tell(.exchangeSent(exchange(2), isUndo: false))
        #expect(audit.violations.contains("run 7 sent a request after it was cancelled"))
        tell(.runCompleted(7), .slotTaken(limit: 9), .exchangeSent(exchange(3), isUndo: true))
        #expect(audit.violations.contains("run 7 sent a request after its end"))
    }

    @Test("An attempt that ended twice, or never")
    func attempts() {
        tell(.runBegan(7, root: Root()), .slotTaken(limit: 9), .exchangeSent(exchange(), isUndo: false))
        #expect(audit.violations.contains("an attempt of run 7 never ended"))
        tell(.transportTold(exchange(), isEnd: true), .exchangeLanded(exchange()), .exchangeGivenUp(exchange()))
        #expect(audit.violations.contains("an attempt of run 7 ended twice"))
    }

    @Test("A run that is kept in memory after its end")
    func memory() {
        tell(.runBegan(7, root: root), .runEnded(7), .runCompleted(7))
        #expect(audit.violations == ["run 7 is kept in memory after its end"])
    }

    @Test("Timers and registrations that outlive the run, but not the timer of a forfeit")
    func timers() {
        var state = AuditState()
        var facts = EngineFacts()
        state.note(.runBegan(7, root: Root()))
        state.note(.slotTaken(limit: 1))
        state.note(.exchangeSent(exchange(), isUndo: false))
        state.note(.exchangeGivenUp(exchange()))
        state.note(.runCompleted(7))
        facts.slots = 1
        facts.callTimers = [EngineFacts.Timer(run: 7, job: ObjectIdentifier(root))]
        #expect(
            state.looseEnds(facts) == ["the transport never ended an exchange of run 7", "1 slots did not come back"])
        facts.callTimers += facts.callTimers
        facts.otherTimers = 3
        facts.waiting = 2
        facts.registered = [7]
        let sentences = state.looseEnds(facts)
        #expect(sentences.contains("a timer of run 7 outlived it"))
        #expect(sentences.contains("run 7 is still registered after its end"))
        #expect(sentences.contains("2 requests still wait in the queue"))
        #expect(sentences.contains { $0.hasPrefix("3 timers are still set that belong to no run") })
    }

    @Test("A flood of faults as fifty sentences and a number")
    func flood() {
        for index in 0..<200 { tell(.itemClosed(item(index))) }
        #expect(audit.violations.count == 51)
        #expect(audit.violations.last == "150 more that are not listed")
    }
}
