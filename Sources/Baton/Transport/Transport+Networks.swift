extension BatonError {
    /// A request avoids kinds of networks that the transport cannot tell apart.
    package static var networksUnknown: BatonError {
        BatonError(
            .unsupported,
            "kinds of networks cannot be told apart here, so none can be avoided: only URLSessionTransport on Apple systems can"
        ).with(phase: .send)
    }
}
