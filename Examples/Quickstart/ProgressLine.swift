import Baton
import Foundation

/// One line on standard error that is written over as the batch goes on; nothing where that is no terminal.
struct ProgressLine {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ progress: BatchProgress?) {
        guard let progress, let total = progress.total else { return }
        write("\rorders: \(progress.completed) of \(total), \(progress.running) under way\u{1B}[K")
    }

    /// Clears the line, so that what follows starts at its beginning.
    func clear() {
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        guard isTerminal else { return }
        FileHandle.standardError.write(Data(text.utf8))
    }
}
