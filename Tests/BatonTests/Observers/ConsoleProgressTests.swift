@testable import Baton
import BatonTesting
import Testing

@Suite("Progress on a console") struct ConsoleProgressTests {
    private let output = Record<String>()

    private func progress(_ completed: Int, of total: Int?, failed: Int = 0) -> BatchProgress {
        var progress = BatchProgress()
        progress.total = total
        progress.succeeded = completed - failed
        progress.failed = failed
        return progress
    }

    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    private func console(_ label: String = "files", isTerminal: Bool) -> ConsoleProgress {
        ConsoleProgress(label, isTerminal: isTerminal) { [output] in output.add($0) }
    }

    @Test("A terminal gets one line that is written over, ten times a second at most")
    func terminal() {
        let console = console(isTerminal: true)
        for step in 0...100 {
            console.show(progress(step * 5, of: 1_000, failed: step / 50), at: at(Double(step) / 50))
        }
        console.finish(at: at(2))
        #expect(output.count < 24)
        #expect(output.all.first == "\rfiles ░░░░░░░░░░░░░░░░ 0 of 1,000\u{1B}[K")
        #expect(output.all.last == "\rfiles ████████░░░░░░░░ 500 of 1,000, 2 failed, 250/s, 2 s left\u{1B}[K\n")
        #expect(output.all.dropLast().allSatisfy { $0.hasPrefix("\r") && !$0.contains("\n") })
    }

    @Test("A file gets plain lines, few of them, and no control characters")
    func file() {
        let console = console(isTerminal: false)
        for step in 0...1_000 { console.show(progress(step, of: 1_000), at: at(Double(step) / 40)) }
        console.finish(at: at(25))
        #expect(output.count <= 13)
        #expect(
            output.all.allSatisfy { text in text.hasSuffix("\n") && !text.contains("\r") && !text.contains("\u{1B}") })
        #expect(output.all.last == "files 1,000 of 1,000, 40/s\n")
    }

    @Test("Of an input of unknown length there is no share and no time left")
    func unknown() {
        let console = console("", isTerminal: true)
        console.show(progress(0, of: nil), at: at(0))
        console.show(progress(5_000, of: nil), at: at(1))
        #expect(output.all.last == "\r5,000, 5,000/s\u{1B}[K")
    }

    @Test("A line never fills a terminal's width")
    func long() {
        let console = console(String(repeating: "x", count: 200), isTerminal: true)
        console.show(progress(0, of: 1), at: at(0))
        #expect(output.all.first?.count == 79 + 4)
    }

    @Test("It follows a run to its end, and a run without a batch shows nothing")
    func following() async throws {
        let (console, output) = (console(isTerminal: false), output)
        try await withVirtualTime(transport: ScriptedTransport.shop(after: .milliseconds(400))) { client, _ in
            let run = client.start(Batch((1...10).map { GetItem(n: $0) }, maxConcurrency: 2))
            await console.follow(run)
            #expect(output.all.last?.hasPrefix("files 10 of 10") == true)
            let count = output.count
            let single = client.start(GetItem(n: 1))
            await console.follow(single)
            #expect(output.count == count)
        }
    }

    @Test("The time that is left is told in hours where it takes hours")
    func hours() {
        let console = console("", isTerminal: false)
        console.show(progress(0, of: 100_000), at: at(0))
        console.show(progress(20, of: 100_000), at: at(2))
        console.finish(at: at(2))
        #expect(output.all.last == "20 of 100,000, 10/s, 2 h 46 min left\n")
    }
}
