/// Kinds of networks that a request may avoid.
///
/// Only Apple's systems tell them apart, and there only `URLSessionTransport` does: elsewhere, and with other transports,
/// a request that avoids one fails with `unsupported`.
public struct NetworkKinds: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Mobile networks.
    public static let cellular = NetworkKinds(rawValue: 1)
    /// Networks that cost much, such as mobile ones and personal hotspots.
    public static let expensive = NetworkKinds(rawValue: 2)
    /// Networks on which the user wants little to be sent (Low Data Mode).
    public static let constrained = NetworkKinds(rawValue: 4)
}
