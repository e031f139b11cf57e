/// Which responses are accepted; what is not is an error that holds the response.
///
/// ```swift
/// $0.validation = Validation(statuses: [200, 404])
/// $0.validation = Validation(contentTypes: ["application/json", "image/*"])
/// $0.validation = Validation(shape: .object(["total": .integer]))
/// $0.validation = Validation { response in
///     if response.fields["X-Outcome"] == "refused" { throw Refused() }
/// }
/// ```
/// It is the innermost layer: retry policies, interceptors and breakers see what it refuses. The status is looked at
/// first, then the content type, then the shape, then the closure. A redirect that is followed is not looked at. What the
/// closure refuses does not count against the host: its breaker and limits see the response as an answer.
public struct Validation: Sendable {
    /// Throws to refuse a response. It runs on a worker thread, where it may block; it holds no slot.
    public typealias Check = @Sendable (HTTPResponse) throws -> Void

    /// Nil: every one.
    private let statuses: Set<Int>?
    private let contentTypes: [String]?
    package let check: Check?

    /// - Parameters:
    ///   - statuses: those that are accepted. Default: 200 to 299.
    ///   - contentTypes: media types without parameters, where `image/*` stands for all of a kind. Default: nil, any. A
    ///     response without a body needs none. Refused with `unacceptableContentType`.
    ///   - shape: what the body looks like as JSON. Default: nil, anything. Refused with `validationFailed`.
    ///   - check: looks at the whole response. Default: nothing. An error that is no `BatonError` becomes
    ///     `validationFailed`.
    public init(
        statuses: some Sequence<Int> = 200..<300, contentTypes: [String]? = nil, shape: JSONShape? = nil,
        check: Check? = nil
    ) {
        self.statuses = Set(statuses)
        self.contentTypes = contentTypes.map { $0.map { $0.lowercased() } }
        guard let shape else {
            self.check = check
            return
        }
        self.check = { response in
            try Self.compare(response, with: shape)
            try check?(response)
        }
    }

    private init() {
        statuses = nil
        contentTypes = nil
        check = nil
    }

    /// Every response is accepted, whatever its status.
    public static let anything = Validation()

    /// Whether only the statuses 200 to 299 are asked for.
    package var isStandard: Bool { statuses == Self.usual && contentTypes == nil && check == nil }
    private static let usual = Set(200..<300)

    /// What refuses the head of a response; nil when nothing does.
    package func refusal(of response: HTTPResponse) -> BatonError? {
        if let statuses, !statuses.contains(response.status) { return Self.unacceptable(response) }
        guard let contentTypes, !response.body.isEmpty else { return nil }
        let type = (response.fields[.contentType] ?? "").prefix { $0 != ";" }.trimmingBlanks.lowercased()
        let isFine = contentTypes.contains { accepted in
            accepted == "*/*" || accepted == type || (accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast()))
        }
        if isFine { return nil }
        return BatonError(
            .unacceptableContentType,
            type.isEmpty
                ? "the response has no content type"
                : "the response is \(type), and not \(contentTypes.joined(separator: " or "))", response: response
        ).with(phase: .validate)
    }

    /// The status is not accepted.
    package static func unacceptable(_ response: HTTPResponse) -> BatonError {
        BatonError(.unacceptableStatus, "the server answered \(response.status)", response: response)
            .with(phase: .validate)
    }

    private static func compare(_ response: HTTPResponse, with shape: JSONShape) throws {
        let value: JSONValue
        do {
            value = try JSONValue(data: response.body)
        } catch {
            throw BatonError(.validationFailed, "the body is no JSON", underlying: error)
        }
        let violations = shape.check(value, limit: 3)
        guard !violations.isEmpty else { return }
        throw BatonError(
            .validationFailed,
            "the body has another shape: \(violations.map(\.description).joined(separator: "; "))")
    }
}
