import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("A batch's report") struct ReportTests {
    @Test("It says in a line how many succeeded, failed, were cancelled and never began")
    func description() async throws {
        let transport = ScriptedTransport { request, _ in
            switch request.number ?? 0 {
            case 1: .reply(.item(1), after: .seconds(1))
            case 2: .reply(.status(404), after: .seconds(2))
            default: .silence
            }
        }
        try await withVirtualTime(transport: transport) { client, clock in
            let run = client.start(Batch((1...6).map { GetItem(n: $0) }, maxConcurrency: 2))
            try await clock.sleep(for: .seconds(3))
            run.cancel()
            let report = try #require(try await failure { try await run.value }.report(of: Item.self))
            #expect("\(report)" == "1 succeeded, 1 failed, 2 cancelled, 2 not started")
            #expect(report.values == [Item(n: 1), nil, nil, nil, nil, nil])
            #expect(report.failures.map(\.index) == [1])
            let whole = try await client.run(Batch([GetItem(n: 1)]))
            #expect("\(whole)" == "1 succeeded, 0 failed")
        }
    }

    @Test("A place in a plan is told to a depth that somebody reads")
    func deepPlace() async throws {
        var plan = GetItem(n: 1).chain
        for _ in 0..<40 { plan = Batch([plan]).map { report in report[0].value ?? Item(n: 0) } }
        let observer = RecordingObserver()
        try await withVirtualTime(transport: ScriptedTransport(), configure: { $0.observers = [observer] }) {
            [plan] client, _ in
            let item = try await client.run(plan)
            #expect(item == Item(n: 1))
        }
        for case .attemptStarted(let attempt) in observer.events {
            #expect(attempt.path.hasPrefix("….") && attempt.path.hasSuffix("batch[0]"))
            #expect(attempt.path.split(separator: ".").count == 33)
        }
    }

    @Test("The share of a run is that of its batch, else of what comes, else of what goes")
    func share() {
        var progress = RunProgress()
        #expect(progress.fraction == nil)
        #expect(progress.foundation.isIndeterminate)
        progress.upload = TransferProgress(bytes: 1, total: 4)
        #expect(progress.fraction == 0.25)
        #expect(progress.foundation.fractionCompleted == 0.25)
        progress.download = TransferProgress(bytes: 1, total: 2)
        #expect(progress.fraction == 0.5)
        #expect(progress.foundation.fractionCompleted == 0.5)
        var batch = BatchProgress()
        (batch.total, batch.succeeded) = (4, 3)
        progress.batch = batch
        #expect(progress.fraction == 0.75)
        #expect(progress.foundation.fractionCompleted == 0.75)
    }
}
