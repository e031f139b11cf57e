package import Foundation

extension BatonError {
    /// How long the server asked to wait before the next request (`Retry-After`, RFC 9110, 10.2.3); nil when it did
    /// not, or not in a form that can be read. A date that is past asks for no wait.
    public var retryAfter: Duration? {
        if let noted = storage.retryAfter { return noted }
        guard let fields = response?.fields, let value = fields[.retryAfter] else { return nil }
        // A date means something only beside the response's own date; a number needs none.
        let isNumber = value.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: " ") }
        guard isNumber || fields.contains(.date) else { return nil }
        return RetryAfter.seconds(in: fields, now: Date(timeIntervalSince1970: 0)).map { .seconds($0) }
    }

    /// The same, for a date in a response without a Date field relative to the wall clock.
    package func retryAfter(at date: Date) -> Duration? {
        if let noted = storage.retryAfter { return noted }
        guard let response else { return nil }
        return RetryAfter.seconds(in: response.fields, now: date).map { .seconds($0) }
    }

    /// Why the request was not sent again, where the failure alone does not say so: the host's retry budget was used
    /// up, the server asked for too long a wait, or a wait did not fit before the deadline. Nil elsewhere.
    public var retryNote: String? { storage.retryNote }

    /// The error with what the decision about another attempt showed; what is already set stays.
    package func with(retryAfter: Duration?, retryNote: String?) -> BatonError {
        var storage = storage
        storage.retryAfter = storage.retryAfter ?? retryAfter
        storage.retryNote = storage.retryNote ?? retryNote
        var copy = self
        copy.storage = storage
        return copy
    }
}
