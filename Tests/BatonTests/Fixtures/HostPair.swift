import Baton
import BatonTesting
import Foundation

/// What a test of all transports is run on.
enum Carrier: CaseIterable, Sendable {
    case mock, curl, urlSession
}

/// Two hosts that answer by a closure, on one of the transports, and what they were asked.
///
/// In the values of fields, `{a}` and `{b}` stand for the URLs of the hosts.
final class HostPair: Sendable {
    struct Asked: Sendable {
        var host: String
        var method: HTTPMethod
        var target: String
        var fields: HTTPFields
        var body: Data

        var line: String { "\(method) \(host)\(target)" }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    typealias Respond = @Sendable (Asked) -> HTTPResponse

    let client: Client
    let a: String
    let b: String
    private let record = Record<Asked>()
    private let servers: [LoopbackServer]

    var asked: [Asked] { record.all }
    var lines: [String] { record.all.map(\.line) }

    init(
        _ carrier: Carrier, configure: (inout Client.Configuration) -> Void = { _ in }, _ respond: @escaping Respond
    ) throws {
        var configuration = Client.Configuration()
        configuration.retry = .none
        let servers = try carrier == .mock ? [] : [LoopbackServer(), LoopbackServer()]
        let urls = servers.isEmpty ? ["http://a", "http://b"] : servers.map(\.baseURL)
        let record = record
        let answer: @Sendable (Asked) -> HTTPResponse = { asked in
            record.add(asked)
            var response = respond(asked)
            response.fields = HTTPFields(
                response.fields.map { line in
                    let value = line.value.replacingOccurrences(of: "{a}", with: urls[0])
                        .replacingOccurrences(of: "{b}", with: urls[1])
                    return HTTPFields.Line(name: line.name, value: value)
                })
            return response
        }
        switch carrier {
        case .mock:
            let mock = MockTransport()
            mock.on { _ in true }.reply { request in
                answer(
                    Asked(
                        host: request.origin.host, method: request.method, target: request.target,
                        fields: request.fields, body: request.body.bytes ?? Data()))
            }
            configuration.transport = mock
        case .curl:
            #if os(Linux)
                configuration.transport = try CurlTransport()
            #else
                configuration.transport = URLSessionTransport()
            #endif
        case .urlSession: configuration.transport = URLSessionTransport()
        }
        for (server, host) in zip(servers, ["a", "b"]) {
            for method in [HTTPMethod.get, .post, .put, .delete, .head, .patch] {
                server.on(method, "/**") { request in
                    let response = answer(
                        Asked(
                            host: host, method: request.method, target: request.target, fields: request.fields,
                            body: request.body))
                    return .status(
                        response.status, fields: response.fields, body: String(decoding: response.body, as: UTF8.self))
                }
            }
        }
        self.servers = servers
        (a, b) = (urls[0], urls[1])
        configuration.baseURL = a
        configure(&configuration)
        client = Client(configuration: configuration)
    }

    deinit {
        client.configuration.transport?.shutdown()
        for server in servers { server.stop() }
    }

    /// Answers by the target; 404 for others.
    static func table(_ table: [String: HTTPResponse]) -> Respond {
        { asked in table[asked.host + asked.target] ?? .status(404) }
    }
}

extension HTTPResponse {
    static func redirect(_ location: String?, status: Int = 302) -> HTTPResponse {
        HTTPResponse(status: status, fields: location.map { [.location: $0] } ?? [:])
    }

    static func json(_ json: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, fields: [.contentType: "application/json"], body: Data(json.utf8))
    }
}
