import Baton
import Foundation
import Testing

/// What a command-line tool shows by default; each in a process of its own, whose streams are read.
@Suite("Standard error") struct StandardErrorTests {
    @Test("A log's line begins with its level, and standard output stays clean")
    func log() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            LogSink.standardError(.warning, "GET /a is sent again")
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("warning GET /a is sent again\n"))
        #expect(!String(decoding: result.standardOutputContent, as: UTF8.self).contains("GET /a"))
    }

    @Test("Progress that goes to a file is plain lines, and standard output stays clean")
    func progress() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            let console = ConsoleProgress("files")
            var progress = BatchProgress()
            (progress.total, progress.pending) = (2, 2)
            console.show(progress)
            (progress.pending, progress.succeeded, progress.failed) = (0, 1, 1)
            console.show(progress)
            console.finish()
            console.show(nil)
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("files 0 of 2\n"))
        #expect(text.contains("files 2 of 2, 1 failed"))
        #expect(!text.contains("\u{1B}"))
        #expect(!String(decoding: result.standardOutputContent, as: UTF8.self).contains("files"))
    }
}
