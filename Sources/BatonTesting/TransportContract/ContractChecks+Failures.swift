internal import Baton
internal import Foundation

/// What goes wrong under way.
extension ContractCheck {
    static let failures = [
        ContractCheck("A body that is cut off is a failure, and what came of it is told") { bench in
            for status in [200, 404] {
                bench.server.reply(.lossAfter(.text("0123456789", status: status)), to: .get, "/t")
                let record = try await bench.exchange(.get, "/t")
                bench.expectFailure(record, .connectionLost, of: "a body that is cut off")
                bench.expect(record.head?.status == status, "the head of a response that is cut off is missing")
                bench.expect("0123456789".hasPrefix(record.text), "bytes came that were not sent: “\(record.text)”")
            }
        },
        ContractCheck(onTheWire: "A refused connection cannot connect") { bench, server in
            let url = server.baseURL
            server.stop()
            let record = try await bench.transport.exchange(.get, url + "/")
            bench.expectFailure(record, .cannotConnect, of: "a connection that is refused")
        },
        ContractCheck(onTheWire: "A name that no one has cannot be found") { bench, _ in
            let record = try await bench.transport.exchange(.get, "http://nowhere.invalid/")
            bench.expectFailure(record, .cannotFindHost, of: "a name that no one has")
        },
        ContractCheck(onTheWire: "A connection that ends or is reset before the response is lost") { bench, server in
            let ways: [(String, LoopbackServer.Reply)] = [
                ("the end", .broken(.close)), ("a reset", .broken(.reset)),
                ("a reset in the middle of the head", .text("hello").broken(.reset, at: .midHead)),
            ]
            for (what, reply) in ways {
                server.on(.get, "/x", reply)
                let record = try await bench.exchange(.get, "/x")
                bench.expectFailure(record, .connectionLost, of: what)
                bench.expect(record.head == nil, "\(what) yielded a head")
            }
        },
        ContractCheck(onTheWire: "A wrong length, a missing last chunk and a reset are lost connections") {
            bench, server in
            let text = String(repeating: "0123456789", count: 1_000)
            let whole = LoopbackServer.Reply.text(text)
            let cut: [(String, LoopbackServer.Reply)] = [
                ("a body that is closed", whole.broken(.close, at: .midBody)),
                ("a body that is reset", whole.broken(.reset, at: .bodyByte(10))),
                ("a head without a body", whole.broken(.close, at: .afterHead)),
                ("a length that is too large", whole.claiming(contentLength: 20_000)),
                ("a missing last chunk", whole.withoutLastChunk()),
                ("a chunk that is cut off", .chunks([text, text]).broken(.close, at: .midBody)),
            ]
            for (what, reply) in cut {
                server.on(.get, "/t", reply)
                let record = try await bench.exchange(.get, "/t")
                bench.expectFailure(record, .connectionLost, of: what)
                bench.expect((text + text).hasPrefix(record.text), "\(what) yielded bytes that were not sent")
            }
        },
        ContractCheck(onTheWire: "What is no HTTP is no response") { bench, server in
            let replies: [(String, LoopbackServer.Reply)] = [
                ("garbage", .garbage), ("a greeting of SSH", .raw("SSH-2.0-OpenSSH_9.2\r\n")),
                ("a status that is no number", .raw("HTTP/1.1 abc\r\n\r\n")),
                ("a field without a colon", .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")),
                (
                    "a chunk without a size",
                    .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello")
                ),
            ]
            for (what, reply) in replies {
                server.on(.get, "/g", reply)
                bench.expectFailure(try await bench.exchange(.get, "/g"), .invalidResponse, of: what)
            }
        },
        ContractCheck(onTheWire: "After a failure the next exchange is fine") { bench, server in
            server.on(.get, "/x", [.broken(.reset), .text("ok"), .garbage, .text("ok")])
            for index in 0..<4 {
                let record = try await bench.exchange(.get, "/x")
                bench.expectOneEnd(record, "exchange \(index)")
                bench.expect(record.isComplete == (index % 2 == 1), "exchange \(index) ended as another one should")
            }
        },
    ]
}
