package import Baton

/// Exchanges without a client, for tests of a transport.
extension Transport {
    /// Sends a request and waits for its end.
    package func exchange(
        _ method: HTTPMethod = .get, _ url: String, fields: HTTPFields = [:], body: HTTPBody = .none
    ) async throws -> ExchangeRecorder.Record {
        let (recorder, _) = try start(method, url, fields: fields, body: body)
        let record = await recorder.ended()
        // Only a task that was cancelled gets here without an end.
        try Task.checkCancellation()
        return record
    }

    /// Sends a request; the recorder hears what becomes of it.
    package func start(
        _ method: HTTPMethod = .get, _ url: String, fields: HTTPFields = [:], body: HTTPBody = .none,
        recorder: ExchangeRecorder = ExchangeRecorder()
    ) throws -> (ExchangeRecorder, any Transmission) {
        let (origin, target) = try HTTPOrigin.split(url)
        let request = HTTPRequest(
            method: method, origin: origin, target: target.isEmpty ? "/" : target, fields: fields,
            body: try body.encoded(with: BodyCoding()))
        return (recorder, send(request, to: TransportReceiver(recorder)))
    }
}

extension HTTPFields {
    /// The values of a field, whether they are on lines of their own or in one list.
    package func list(for name: HTTPFieldName, separator: Character) -> [String] {
        values(for: name).flatMap { $0.split(separator: separator) }.map { item in
            String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}
