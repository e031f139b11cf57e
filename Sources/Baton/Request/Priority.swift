/// How urgent a request is among those that wait for a slot.
///
/// A lower one waits longer, but never for ever: it is passed over at most eight times in a row while it could be sent.
/// Priority decides who gets the next free slot; what is in flight is never interrupted.
public enum Priority: UInt8, Sendable, CaseIterable {
    /// Somebody waits for it.
    case high
    /// The default.
    case normal
    /// It can wait.
    case low
}
