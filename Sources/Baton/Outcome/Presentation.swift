/// Where and whether a run shows that it is loading, and that it failed; for observers that do.
///
/// ```swift
/// Call("/news", as: News.self) { $0.options.presentation = Presentation(in: "newsList", errors: .hidden) }
/// ```
public struct Presentation: Sendable, Hashable {
    /// Whether something is shown.
    public enum Visibility: Sendable {
        /// It is shown.
        case shown
        /// It is not.
        case hidden
    }

    /// The app's name of the place to show in; nil, the default, leaves it to the presenter.
    public var place: String?
    /// Default: shown.
    public var loading: Visibility
    /// Default: shown.
    public var errors: Visibility

    /// Says where it is shown, and what; by default all, in a place that the presenter chooses.
    public init(in place: String? = nil, loading: Visibility = .shown, errors: Visibility = .shown) {
        self.place = place
        self.loading = loading
        self.errors = errors
    }
}
