public import Baton
internal import Foundation

/// Scripts replies on a ``MockTransport``, which is the transport under contract or stands behind it.
public final class MockContractServer: ContractServer {
    private let mock: MockTransport

    /// A server on a mock that nobody else scripts.
    public init(_ mock: MockTransport) {
        self.mock = mock
    }

    public var baseURL: String { "http://mock.test" }
    public func stop() {}
    public func waitForRequests(_ count: Int) async { await mock.waitForRequests(count) }

    public var requests: [ContractRequest] {
        // What came to no decision had a body that did not arrive.
        mock.calls.filter { $0.stub != nil || $0.isUnmatched }.map { call in
            let target = call.path + (call.query.map { "?" + $0 } ?? "")
            return ContractRequest(method: call.method, target: target, fields: call.fields, body: call.body)
        }
    }

    public func reply(_ reply: ContractReply, to method: HTTPMethod, _ path: String) {
        let stub = mock.on(method, path).anyQuery()
        switch reply {
        case .response(let response): stub.reply(response)
        case .pieces(let response, let size): pieces(stub, response, Self.cut(response.body, size))
        case .silence: _ = stub.hold()
        // The last piece is hours away, so what there is of the body is followed by nothing.
        case .silenceAfter(let response):
            pieces(stub, response, [response.body, Data([0])], every: .seconds(1_000_000))
        case .lossAfter(let response): pieces(stub, response, [response.body], failing: .connectionLost)
        }
    }

    private func pieces(
        _ stub: MockStub<MockTransport.AnyRequest>, _ response: HTTPResponse, _ pieces: [Data],
        every interval: Duration = .zero, failing failure: BatonError.Code? = nil
    ) {
        stub.reply(
            status: response.status, fields: response.fields, chunks: pieces.filter { !$0.isEmpty }, every: interval,
            failing: failure)
    }

    private static func cut(_ data: Data, _ size: Int) -> [Data] {
        stride(from: data.startIndex, to: data.endIndex, by: size).map { start in
            data[start..<min(start + size, data.endIndex)]
        }
    }
}
