/// The name of an interceptor, by which requests choose among those of their client. Default: that of its type.
public struct InterceptorID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name by which it is chosen.
    public let name: String

    /// An identity by that name.
    public init(_ name: String) { self.name = name }
    public init(stringLiteral value: String) { name = value }

    /// The name that interceptors of a type have where they do not say another; generic arguments are no part of it.
    public init(_ type: any Any.Type) {
        name = String("\(type)".prefix { $0 != "<" })
    }

    public var description: String { name }
}

/// Which interceptors stand around a request: all of its client's, some of them, or more than those.
///
/// ```swift
/// var options: RequestOptions { RequestOptions { $0.interceptors = .except(.authentication) } }
///
/// $0.interceptors = .only("Stamp")            // an interceptor of one's own, by its name
/// $0.interceptors = .adding(Cache(.cacheElseNetwork, store: store))
/// ```
/// So an interceptor that belongs on some requests only is left out of the client and added by those.
public struct InterceptorSelection: Sendable {
    package enum Choice: Sendable {
        case all
        case except(Set<InterceptorID>)
        case only(Set<InterceptorID>)
    }

    package var choice: Choice
    /// Interceptors, which this room does not know.
    package var added: [any Sendable] = []

    package init(choice: Choice, added: [any Sendable] = []) {
        self.choice = choice
        self.added = added
    }

    /// All that the client has; says so where a plan around the request says otherwise.
    public static let all = InterceptorSelection(choice: .all)
    /// None.
    public static let none = InterceptorSelection(choice: .only([]))

    /// All but those.
    public static func except(_ ids: InterceptorID...) -> InterceptorSelection {
        InterceptorSelection(choice: .except(Set(ids)))
    }

    /// Only those of the client's.
    public static func only(_ ids: InterceptorID...) -> InterceptorSelection {
        InterceptorSelection(choice: .only(Set(ids)))
    }

    /// Whether one of the client's stands around the request.
    package func includes(_ id: InterceptorID) -> Bool {
        switch choice {
        case .all: true
        case .except(let ids): !ids.contains(id)
        case .only(let ids): ids.contains(id)
        }
    }
}
