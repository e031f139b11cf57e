/// What a request that changes something at the server means for what is stored (RFC 9111, 4.4).
extension Cache {
    /// Forgets what is stored for the URL of a request that succeeded, and for those that its response names.
    func invalidate(after response: HTTPResponse, to request: HTTPRequest, _ context: AttemptContext) async {
        var urls = [request.urlString]
        for name in [HTTPFieldName.location, "Content-Location"] {
            guard let url = response.fields[name].flatMap({ Self.url($0, sameOriginAs: request) }), !urls.contains(url)
            else { continue }
            urls.append(url)
        }
        for url in urls where (try? await store.remove(url: url)) == true {
            context.tell(.invalidated(url: url), of: request)
        }
    }

    /// The absolute URL of a reference; nil where it is of another origin, which a response must not speak for.
    private static func url(_ reference: String, sameOriginAs request: HTTPRequest) -> String? {
        if reference.hasPrefix("/"), !reference.hasPrefix("//") {
            return HTTPRequest(origin: request.origin, target: String(reference.prefix { $0 != "#" })).urlString
        }
        guard let other = try? HTTPRequest(url: reference), other.origin.isSameOrigin(as: request.origin) else {
            return nil
        }
        return other.urlString
    }
}
