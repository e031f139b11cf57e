import BatonTesting
import Foundation
import Testing

@testable import Baton

extension TransportCase {
    static let failures = [
        TransportCase("A refused connection cannot connect") { transport in
            let server = try LoopbackServer()
            server.stop()
            let record = try await transport.exchange(.get, server.baseURL + "/")
            #expect(record.error?.code == .cannotConnect && record.ends == 1)
        },
        TransportCase("A name that no one has cannot be found") { transport in
            let record = try await transport.exchange(.get, "http://nowhere.invalid/")
            #expect(record.error?.code == .cannotFindHost)
        },
        TransportCase("A connection that ends or is reset before the response is lost") { transport in
            let server = try LoopbackServer()
            for way: LoopbackServer.Reply.Break in [.close, .reset] {
                server.on(.get, "/x", .broken(way))
                let record = try await transport.exchange(.get, server.baseURL + "/x")
                #expect(record.error?.code == .connectionLost && record.head == nil)
            }
        },
        TransportCase("A reset in the middle of the head is a lost connection") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/x", .text("hello").broken(.reset, at: .midHead))
            let record = try await transport.exchange(.get, server.baseURL + "/x")
            #expect(record.error?.code == .connectionLost && record.head == nil)
        },
        TransportCase("A body that ends early is a lost connection, and what came is told") { transport in
            let server = try LoopbackServer()
            let text = String(repeating: "0123456789", count: 1_000)
            for status in [200, 404] {
                let whole = LoopbackServer.Reply.text(text, status: status)
                let cut: [LoopbackServer.Reply] = [
                    whole.broken(.close, at: .midBody), whole.broken(.reset, at: .bodyByte(10)),
                    whole.broken(.close, at: .afterHead), whole.claiming(contentLength: 20_000),
                    whole.withoutLastChunk(), .chunks([text, text]).broken(.close, at: .midBody),
                ]
                for reply in cut {
                    server.on(.get, "/t", reply)
                    let record = try await transport.exchange(.get, server.baseURL + "/t")
                    #expect(record.error?.code == .connectionLost && record.ends == 1)
                    #expect((text + text).hasPrefix(record.text))
                }
            }
        },
        TransportCase("What is no HTTP is no response") { transport in
            let server = try LoopbackServer()
            let replies: [LoopbackServer.Reply] = [
                .garbage, .raw("SSH-2.0-OpenSSH_9.2\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"),
                .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello"),
            ]
            for reply in replies {
                server.on(.get, "/g", reply)
                let record = try await transport.exchange(.get, server.baseURL + "/g")
                #expect(record.error?.code == .invalidResponse && record.ends == 1)
            }
        },
        TransportCase("A body that is not as compressed as it says is no response") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/z", .text("not gzip at all", fields: [.contentEncoding: "gzip"]))
            let record = try await transport.exchange(.get, server.baseURL + "/z")
            #expect(record.error?.code == .invalidResponse)
        },
        TransportCase("An error names no secret of the request") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/x", .broken(.reset))
            let record = try await transport.exchange(
                .get, server.baseURL + "/x?token=s3cret", fields: [.authorization: "Bearer s3cret"])
            let error = try #require(record.error)
            let underlying = error.underlying.map { "\($0) \(($0 as NSError).userInfo)" } ?? ""
            #expect(!"\(error) \(String(reflecting: error)) \(underlying)".contains("s3cret"))
        },
        TransportCase("After a failure the next request is fine") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/x", [.broken(.reset), .text("ok"), .garbage, .text("ok")])
            for index in 0..<4 {
                let record = try await transport.exchange(.get, server.baseURL + "/x")
                #expect(record.isComplete == (index % 2 == 1))
            }
        },
    ]
}
