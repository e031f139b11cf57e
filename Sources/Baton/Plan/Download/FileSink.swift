internal import Foundation

/// Writes the body of a response to a file, on worker threads, and holds the transport up while the disk is behind.
///
/// What was accepted is written in order, so another attempt can ask for what follows it at once.
final class FileSink: ResponseSink, Job {
    enum Step: Sendable {
        case write(Data, at: Int64)
        /// Everything so far was of no use.
        case startOver
    }

    struct State {
        var file: PartialFile?
        var scheduler: (any Scheduler)?
        /// The exchange whose body is taken; nil between two.
        var exchange: SinkExchange?
        /// Where the next byte goes.
        var offset: Int64 = 0
        /// Where the latest exchange began.
        var start: Int64 = 0
        /// Bytes of the exchange that are there already.
        var skip: Int64 = 0
        var total: Int64?
        var validator: ResumeNote.Validator?
        var asksForRange = false
        var steps: [Step] = []
        /// Bytes that wait to be written.
        var pending = 0
        var isWriting = false
        var isHeld = false
        /// How many bytes are written, and how many the note says.
        var written: Int64 = 0
        var noted: Int64 = 0
        var fault: BatonError?
        var whenWritten: [@Sendable (BatonError?) -> Void] = []
        var isComplete = false
        /// Nobody wants the file any more.
        var isAbandoned = false
        /// It is in its place, kept for later, or gone.
        var isSettled = false
    }

    /// So many bytes wait at most before the transport is asked to wait, and are left when it is asked to go on.
    static let (high, low) = (1 << 20, 1 << 18)
    /// So many bytes are written between two notes.
    static let noteInterval: Int64 = 16 << 20

    let destination: URL
    let existing: ExistingFile
    let url: String
    /// Whether a part can be asked for.
    let isResumable: Bool
    let state = LockBox(State())
    private let write: PartialFile.Write?

    init(_ request: HTTPRequest, to destination: URL, _ existing: ExistingFile, write: PartialFile.Write? = nil) {
        self.destination = destination
        self.existing = existing
        self.write = write
        url = request.urlString
        isResumable = request.method == .get && !request.fields.contains(.range)
    }

    deinit {
        let state = state.withLock { $0 }
        if !state.isSettled { settle(state) }
    }

    /// Opens the file, and finds out what is there already. May block.
    func load() throws(BatonError) {
        guard destination.isFileURL else {
            throw BatonError(.fileFailed, "the destination of a download must be a file URL").with(phase: .encode)
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw .file("cannot be written", destination, errno: EISDIR) }
            if existing == .fail { throw PartialFile.exists(destination) }
        }
        do {
            try FileManager.default.createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch {
            let folder = destination.deletingLastPathComponent().lastPathComponent
            throw BatonError(.fileFailed, "the folder \(folder) cannot be made", underlying: error)
        }
        let file =
            if let write { try PartialFile.open(for: destination, write: write) } else {
                try PartialFile.open(for: destination)
            }
        let note = isResumable ? file.note() : nil
        let kept = note.flatMap { $0.url == url ? $0 : nil }
        if kept == nil { file.removeNote() }
        try file.truncate(to: kept?.bytes ?? 0)
        state.withLock { state in
            state.file = file
            guard let kept else { return }
            (state.offset, state.written, state.noted) = (kept.bytes, kept.bytes, kept.bytes)
            (state.validator, state.total) = (kept.validator, kept.total)
        }
    }

    func attach(to scheduler: any Scheduler) { state.withLock { $0.scheduler = scheduler } }

    // MARK: Writing

    /// Writes what waits, until nothing does.
    func run(_ signal: Signal) {
        let scheduler = state.withLock { $0.scheduler }
        // The disk may block; what the thread has still to do goes to others.
        scheduler?.handOver()
        while true {
            let work: ([Step], PartialFile?)? = state.withLock { state in
                guard !state.steps.isEmpty, state.fault == nil else { return nil }
                defer { state.steps = [] }
                return (state.steps, state.file)
            }
            guard let (steps, file) = work else { break }
            do throws(BatonError) {
                for step in steps { try perform(step, on: file) }
            } catch {
                let exchange = state.withLock { state in
                    state.fault = error
                    return state.exchange
                }
                exchange?.fail(error)
            }
            noteNowAndThen()
        }
        rest()
    }

    private func perform(_ step: Step, on file: PartialFile?) throws(BatonError) {
        guard let file else { return }
        switch step {
        case .write(let bytes, let offset):
            try file.write(bytes, at: offset)
            let resume: SinkExchange? = state.withLock { state in
                state.pending -= bytes.count
                state.written = offset + Int64(bytes.count)
                guard state.isHeld, state.pending <= Self.low else { return nil }
                state.isHeld = false
                return state.exchange
            }
            resume?.resume()
        case .startOver:
            file.removeNote()
            try file.truncate(to: 0)
            state.withLock { ($0.written, $0.noted) = (0, 0) }
        }
    }

    private func noteNowAndThen() {
        let due = state.withLock { state in
            state.isComplete || state.fault != nil || state.written - state.noted < Self.noteInterval
                ? nil : makeNote(state)
        }
        if let (file, note) = due { keep(note, file) }
    }

    private func makeNote(_ state: State) -> (PartialFile, ResumeNote)? {
        guard let file = state.file, let validator = state.validator, state.written > 0 else { return nil }
        return (file, ResumeNote(url: url, validator: validator, bytes: state.written, total: state.total))
    }

    private func keep(_ note: ResumeNote, _ file: PartialFile) {
        file.keep(note)
        state.withLock { $0.noted = note.bytes }
    }

    /// Nothing waits: whoever waited for that goes on.
    private func rest() {
        let (whenWritten, fault, goesOn, old): ([@Sendable (BatonError?) -> Void], BatonError?, Bool, State?) =
            state.withLock { state in
                if !state.steps.isEmpty, state.fault == nil { return ([], nil, true, nil) }
                state.steps = []
                state.isWriting = false
                let whenWritten = state.whenWritten
                state.whenWritten = []
                guard state.isAbandoned, !state.isSettled else { return (whenWritten, state.fault, false, nil) }
                state.isSettled = true
                return (whenWritten, state.fault, false, state)
            }
        if goesOn { return run(Signal(kind: 0)) }
        if let old { settle(old) }
        for body in whenWritten { body(fault) }
    }

    /// Keeps what can be used later, and removes anything else.
    private func settle(_ state: State) {
        guard let file = state.file else { return }
        if state.fault == nil, !state.isComplete, let (file, note) = makeNote(state) {
            if state.noted != state.written { file.keep(note) }
            file.close()
        } else {
            file.discard()
        }
    }

    /// Begins to write, unless somebody does.
    func writeSoon(_ isWriting: Bool) {
        guard !isWriting, let scheduler = state.withLock({ $0.scheduler }) else { return }
        scheduler.execute(self, Signal(kind: 0))
    }

    // MARK: The end

    func callFailed() {
        let (isWriting, old): (Bool, State?) = state.withLock { state in
            state.isAbandoned = true
            state.exchange = nil
            guard !state.isWriting else { return (true, nil) }
            // Everything is written and noted: nothing is left that could block.
            if state.noted == state.written, !state.isSettled {
                state.isSettled = true
                return (true, state)
            }
            state.isWriting = true
            return (false, nil)
        }
        if let old { settle(old) }
        writeSoon(isWriting)
    }

    /// Puts the file in its place. May block.
    func finish(_ response: HTTPResponse) throws(BatonError) -> DownloadedFile {
        let old: State? = state.withLock { state in
            guard !state.isSettled, state.file != nil else { return nil }
            state.isSettled = true
            return state
        }
        guard let old, let file = old.file else { throw CancellationError.ofDownload }
        do throws(BatonError) {
            if let fault = old.fault { throw fault }
            var size = old.offset
            // An interceptor answered, and nothing came from a transport.
            if !old.isComplete {
                try file.truncate(to: 0)
                try file.write(response.body, at: 0)
                size = Int64(response.body.count)
            }
            try file.sync()
            let url = try file.place(at: destination, existing)
            file.removeNote()
            file.close()
            return DownloadedFile(
                url: url, byteCount: size, head: response.head, resumedFrom: old.isComplete ? old.start : 0)
        } catch {
            file.discard()
            throw error
        }
    }
}

extension CancellationError {
    fileprivate static var ofDownload: BatonError { BatonError(.cancelled, "the download was cancelled") }
}
