/// How urgent a request is among those that wait for a slot. A lower one waits longer, but never for ever.
package enum Priority: UInt8, Sendable, CaseIterable {
    case high, normal, low
}
