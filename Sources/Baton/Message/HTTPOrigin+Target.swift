extension HTTPOrigin {
    /// The target of a request below this base: prefix and path joined with exactly one slash, queries one after
    /// the other (base, path, parameters). Nothing is resolved or replaced: a key that occurs twice is sent twice,
    /// and dots stay dots. An empty path gives the base's own path, byte for byte.
    ///
    /// What a path or query may not hold literally is percent-encoded, a percent sign that starts no escape too;
    /// escapes that are there already are kept.
    ///
    /// - Parameters:
    ///   - path: the request's path, with or without a leading slash; it may hold a query.
    ///   - parameters: further parameters, percent-encoded already.
    /// - Throws: when the path holds a fragment, which is never sent: a `#` that is meant is written `%23`.
    package func target(path: String, query parameters: String = "") throws(MessageFault) -> String {
        var path = path[...]
        var pathQuery: Substring = ""
        if path.utf8.contains(UInt8(ascii: "#")) {
            throw MessageFault("path", "holds a #: write %23 for the character; a fragment is never sent")
        }
        if let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) {
            pathQuery = path[path.utf8.index(after: mark)...]
            path = path[..<mark]
        }
        var result: String
        if path.isEmpty {
            result = basePath.isEmpty ? "/" : basePath
        } else {
            result = pathPrefix
            result += "/"
            while path.utf8.first == UInt8(ascii: "/") { path = path[path.utf8.index(after: path.startIndex)...] }
            result += URLText.escape(path, .path)
        }
        if query.isEmpty && pathQuery.isEmpty && parameters.isEmpty { return result }
        var separator = "?"
        for part in [query, URLText.escape(pathQuery, .query), parameters] where !part.isEmpty {
            result += separator
            result += part
            separator = "&"
        }
        return result
    }

    /// The same for a path that needs no change, where there are no queries; nil for any other, which takes longer.
    package func target(ofPlain path: String) -> String? {
        guard query.isEmpty, URLText.isPlain(path) else { return nil }
        return pathPrefix.isEmpty ? path : pathPrefix + path
    }
}

/// Paths and queries as they may stand in a URL.
enum URLText {
    /// Whether the text is a path with one leading slash, no query and nothing to escape.
    static func isPlain(_ text: String) -> Bool {
        let slash = UInt8(ascii: "/")
        var text = text
        return text.withUTF8 { bytes in
            bytes.first == slash && (bytes.count == 1 || bytes[1] != slash) && ByteSet.path.containsAll(bytes)
        }
    }

    /// Percent-encodes what is not among `literals`. An escape is kept; a percent sign that starts none is escaped
    /// itself.
    static func escape(_ text: Substring, _ literals: ByteSet) -> String {
        if literals.containsAll(text) { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        var rest = text.utf8
        while let byte = rest.popFirst() {
            let isEscape = byte == UInt8(ascii: "%") && rest.prefix(2).filter { $0.hexDigit != nil }.count == 2
            if isEscape || literals.contains(byte) {
                bytes.append(byte)
            } else {
                PercentEncoding.append(byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
