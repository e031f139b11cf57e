/// What is wrong with a message that may not be sent: which part, and why. Callers see it inside a `BatonError`.
package struct MessageFault: Error, Hashable {
    /// The part at fault: `base URL`, `path`, `field X-Token`, `body`.
    package var part: String
    /// What is wrong with it and what to do, as the rest of a sentence. It never repeats a value.
    package var reason: String

    package init(_ part: String, _ reason: String) {
        self.part = part
        self.reason = reason
    }
}
