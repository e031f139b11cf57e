import Baton
import Foundation

/// An instant so many seconds after the origin.
func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64((seconds * 1e9).rounded())) }

func makeRequest(
    _ method: HTTPMethod = .get, _ url: String = "https://example.com/orders", fields: HTTPFields = [:],
    body: HTTPBody = .none
) -> HTTPRequest {
    let url = URL(string: url)!
    let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
    return HTTPRequest(
        method: method, origin: try! HTTPOrigin(base: "\(url.scheme!)://\(url.host()!)"),
        target: url.path(percentEncoded: true) + query, fields: fields, body: body)
}

func refusal(status: Int, fields: HTTPFields = [:]) -> BatonError {
    BatonError(.unacceptableStatus, response: HTTPResponse(status: status, fields: fields))
}

extension SplitMix64 {
    /// A number from 0 up to, not including, 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
