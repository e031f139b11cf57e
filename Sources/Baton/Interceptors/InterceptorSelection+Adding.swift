extension InterceptorSelection {
    /// All of the client's, and those within them, nearest to the transport. One with the name of a client's stands in
    /// that one's place.
    public static func adding(_ interceptors: any Interceptor...) -> InterceptorSelection {
        InterceptorSelection(choice: .all, added: interceptors)
    }

    /// This selection, and those within it. One with the name of a client's stands in that one's place.
    public func adding(_ interceptors: any Interceptor...) -> InterceptorSelection {
        InterceptorSelection(choice: choice, added: added + interceptors)
    }

    /// What remains of a client's interceptors, with what is added.
    package func applied(to interceptors: [any Interceptor]) -> [any Interceptor] {
        var added = added.compactMap { $0 as? any Interceptor }
        var result: [any Interceptor] = []
        for interceptor in interceptors {
            let id = interceptor.id
            if let place = added.firstIndex(where: { $0.id == id }) {
                result.append(added.remove(at: place))
            } else if includes(id) {
                result.append(interceptor)
            }
        }
        return result + added
    }
}
