internal import Foundation

extension Cookie {
    /// A cookie out of a Set-Cookie line (RFC 6265, 5.2 and 5.3); nil for one that may not be kept.
    ///
    /// Refused are: a line without a name; a domain that the host does not lie in; a domain of one label, such as `com`,
    /// and an address, unless it is the host itself; `Secure` that comes over http; and a name that begins with `__Host-`
    /// or `__Secure-` and does not keep what that promises.
    init?(line: String, from origin: HTTPOrigin, path requestPath: some StringProtocol, now: Date) {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let mark = pair.firstIndex(of: "=") else { return nil }
        let name = String(pair[..<mark].trimmingBlanks)
        let value = String(pair[pair.index(after: mark)...].trimmingBlanks)
        guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) else {
            return nil
        }
        self.init(name, value, domain: origin.host, path: Self.directory(of: requestPath))
        var maxAge: Date?
        var hasPath = false
        for part in parts.dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count == 2 ? sides[1].trimmingBlanks : ""
            switch sides[0].trimmingBlanks.lowercased() {
            case "expires": expiry = CookieDate.parse(value) ?? expiry
            case "max-age": maxAge = Self.end(ofAge: value, now) ?? maxAge
            case "domain":
                let domain = (value.first == "." ? value.dropFirst() : value).lowercased()
                if domain.isEmpty { continue }
                guard Self.host(origin.host, matches: domain) else { return nil }
                let isAlone = !domain.contains(".") || Self.isAddress(domain)
                guard !isAlone || domain == origin.host else { return nil }
                (self.domain, isHostOnly) = (domain, isAlone)
            case "path":
                hasPath = value.first == "/"
                self.path = hasPath ? String(value) : Self.directory(of: requestPath)
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            default: break
            }
        }
        // Max-Age has the last word (RFC 6265, 5.3).
        expiry = maxAge ?? expiry
        guard !isSecure || origin.scheme == "https" else { return nil }
        let prefix = name.lowercased()
        if prefix.hasPrefix("__secure-"), !isSecure { return nil }
        if prefix.hasPrefix("__host-"), !isSecure || !isHostOnly || !hasPath || self.path != "/" { return nil }
    }

    /// The default path: up to the last slash (RFC 6265, 5.1.4).
    private static func directory(of path: some StringProtocol) -> String {
        guard path.first == "/", let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func end(ofAge value: Substring, _ now: Date) -> Date? {
        let digits = value.first == "-" ? value.dropFirst() : value
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
        let seconds = value.first == "-" ? 0 : min(Double(digits) ?? 0, 400 * 86_400)
        return seconds <= 0 ? .distantPast : now.addingTimeInterval(seconds)
    }
}

/// Dates in cookies, which come in many forms (RFC 6265, 5.1.1).
enum CookieDate {
    static func parse(_ text: Substring) -> Date? {
        var (time, day, month, year): ([Int]?, Int?, Int?, Int?)
        let isDelimiter: (Character) -> Bool = { character in
            guard let byte = character.asciiValue else { return false }
            return !(byte.isDigit || byte == UInt8(ascii: ":") || (97...122).contains(byte | 0x20))
        }
        for token in text.split(whereSeparator: isDelimiter) {
            let digits = token.prefix { $0.isASCII && $0.isNumber }
            if time == nil, token.contains(":") {
                let parts = token.split(separator: ":").compactMap { part in
                    Int(part.prefix { $0.isASCII && $0.isNumber })
                }
                guard parts.count == 3 else { return nil }
                time = parts
            } else if day == nil, (1...2).contains(digits.count) {
                day = Int(digits)
            } else if month == nil, let index = months.firstIndex(of: String(token.prefix(3)).lowercased()) {
                month = index + 1
            } else if year == nil, digits.count == 2 || digits.count == 4 {
                year = Int(digits)
            }
        }
        guard let time, let day, let month, var year, time[0] < 24, time[1] < 60, time[2] < 60 else { return nil }
        if (70...99).contains(year) { year += 1900 } else if year < 70 { year += 2000 }
        guard year >= 1601, let days = CivilDate.days(year: year, month: month, day: day) else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]))
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
