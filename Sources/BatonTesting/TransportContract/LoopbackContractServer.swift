internal import Baton
internal import Foundation

/// Scripts replies on a ``LoopbackServer``.
final class LoopbackContractServer: ContractServer {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer(socketBufferBytes: 65_536)
    }

    var baseURL: String { server.baseURL }
    var loopback: LoopbackServer? { server }
    func stop() { server.stop() }
    func waitForRequests(_ count: Int) async { await server.waitForRequests(count) }

    var requests: [ContractRequest] {
        server.requests.map {
            ContractRequest(method: $0.method, target: $0.target, fields: $0.fields, body: $0.body)
        }
    }

    func reply(_ reply: ContractReply, to method: HTTPMethod, _ path: String) {
        server.on(method, path, Self.translated(reply))
    }

    private static func translated(_ reply: ContractReply) -> LoopbackServer.Reply {
        func plain(_ response: HTTPResponse) -> LoopbackServer.Reply {
            LoopbackServer.Reply(status: response.status, fields: response.fields, body: response.body)
        }
        switch reply {
        case .response(let response): return plain(response)
        case .pieces(let response, let size):
            return plain(response).dribbled(bytes: size, every: .milliseconds(1))
        case .silence: return .stall
        case .silenceAfter(let response):
            return plain(response).claiming(contentLength: Int64(response.body.count) + 1)
                .held(by: LoopbackServer.Gate(), at: .bodyByte(response.body.count))
        case .lossAfter(let response):
            return plain(response).claiming(contentLength: Int64(response.body.count) + 1).closing()
        }
    }
}
