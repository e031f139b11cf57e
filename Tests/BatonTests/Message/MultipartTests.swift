import Baton
import Foundation
import Testing

@Suite("Multipart forms")
struct MultipartTests {
    private static func text(_ body: HTTPBody) async throws -> String {
        let encoded = try body.encoded(with: BodyCoding())
        let bytes = if let bytes = encoded.bytes { bytes } else { try await encoded.bodyStream?.bytes() ?? Data() }
        #expect(encoded.length == Int64(bytes.count))
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("M20 a form is written as RFC 7578 says, byte for byte")
    func layout() async throws {
        let body = HTTPBody.multipart(
            [
                .text("title", "Notes"), .data("icon", Data("PNG".utf8), filename: "icon.png"),
                .data("raw", Data("x".utf8)), .text("j", "{}", contentType: "application/json"),
            ], boundary: "B")
        #expect(body.contentType == "multipart/form-data; boundary=B")
        #expect(
            try await Self.text(body)
                == [
                    "--B", "Content-Disposition: form-data; name=\"title\"", "", "Notes",
                    "--B", "Content-Disposition: form-data; name=\"icon\"; filename=\"icon.png\"",
                    "Content-Type: image/png", "",
                    "PNG",
                    "--B", "Content-Disposition: form-data; name=\"raw\"", "Content-Type: application/octet-stream", "",
                    "x",
                    "--B", "Content-Disposition: form-data; name=\"j\"", "Content-Type: application/json", "", "{}",
                    "--B--", "",
                ].joined(separator: "\r\n"))
    }

    @Test(
        "M20 names and file names are escaped as browsers do",
        arguments: [
            ("a\"b", "x\".pdf", "name=\"a%22b\"; filename=\"x%22.pdf\""),
            ("n", "她.png", "name=\"n\"; filename=\"她.png\""),
            ("n", "a\r\nX: y.txt", "name=\"n\"; filename=\"a%0D%0AX: y.txt\""),
            ("a\nb", "\r", "name=\"a%0Ab\"; filename=\"%0D\""),
            ("a\0b", "c\\d", "name=\"a%00b\"; filename=\"c\\d\""),
        ])
    func escaping(name: String, filename: String, expected: String) async throws {
        let text = try await Self.text(.multipart([.data(name, Data(), filename: filename)]))
        #expect(text.contains("Content-Disposition: form-data; \(expected)\r\n"))
        #expect(text.components(separatedBy: "\r\n").count == 7)
    }

    @Test("M20 a form without parts is its closing line")
    func noParts() async throws {
        #expect(try await Self.text(.multipart([], boundary: "B")) == "--B--\r\n")
    }

    @Test("M20 a boundary is a token of its own per body, and the same in the field and in every attempt")
    func boundaries() async throws {
        let body = HTTPBody.multipart { form in form.append(.text("a", "b")) }
        let field = try #require(body.contentType)
        let boundary = String(try #require(field.split(separator: "=").last))
        #expect((1...70).contains(boundary.utf8.count))
        #expect(boundary.utf8.allSatisfy { $0.isTokenByte })
        let first = try await Self.text(body)
        #expect(first.hasPrefix("--\(boundary)\r\n") && first.hasSuffix("\r\n--\(boundary)--\r\n"))
        #expect(try await Self.text(body) == first)
        #expect(HTTPBody.multipart([]).contentType != HTTPBody.multipart([]).contentType)
    }

    @Test("M20 content that holds the text of a chosen boundary is refused, as is a boundary that is none")
    func badBoundaries() {
        let part = MultipartPart.text("a", "x--B\r\n")
        for body in [
            HTTPBody.multipart([part], boundary: "B"), .multipart([], boundary: ""), .multipart([], boundary: "a b"),
            .multipart([], boundary: String(repeating: "x", count: 71)),
        ] {
            #expect(throws: MessageFault.self) { try body.encoded(with: BodyCoding()) }
        }
    }

    @Test(
        "H12 a part's field that would inject another is refused, and named",
        arguments: [
            ("X-A", "v\r\nX-Evil: 1"), ("X-A", "a\0b"), ("X Y", "v"), ("", "v"), ("content-disposition", "form-data"),
        ])
    func injection(name: String, value: String) {
        var part = MultipartPart.text("a", "b")
        part.fields = [HTTPFieldName(name): value]
        let body = HTTPBody.multipart([part])
        #expect {
            try body.encoded(with: BodyCoding())
        } throws: { error in
            (error as? MessageFault)?.part.lowercased() == "field \(name.lowercased()) of a part"
        }
    }

    @Test("H12 a part's content type that would inject a field is refused")
    func contentTypeInjection() {
        let body = HTTPBody.multipart([.text("a", "b", contentType: "text/plain\r\nX-Evil: 1")])
        #expect(throws: MessageFault.self) { try body.encoded(with: BodyCoding()) }
    }

    @Test("T30 a form of files and streams is streamed, of exact length, and identical on both attempts")
    func streamed() async throws {
        let file = try TemporaryFile(Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) }), name: "movie.mp4")
        let body = HTTPBody.multipart([
            .text("t", "x"), .file("f", file.url), .stream("s", HTTPBodyStream(length: 4) { Chunks(["ab", "cd"]) }),
            .data("big", Data(count: 100_000)),
        ])
        #expect(body.isReplayable)
        let encoded = try body.encoded(with: BodyCoding())
        #expect(encoded.bytes == nil)
        let stream = try #require(encoded.bodyStream)
        #expect(stream.isReplayable)
        let first = try await stream.bytes()
        #expect(Int64(first.count) == encoded.length)
        #expect(first.range(of: file.contents) != nil)
        #expect(first.range(of: Data("Content-Type: video/mp4\r\n".utf8)) != nil)
        #expect(try await stream.bytes() == first)
    }

    @Test("T30 a form with a stream that can be read once is not replayable, and of unknown length if the stream is")
    func oneShot() async throws {
        let body = HTTPBody.multipart([
            .text("t", "x"), .stream("s", HTTPBodyStream(from: Chunks(["ab"]), length: nil)),
        ])
        #expect(!body.isReplayable)
        let stream = try #require(try body.encoded(with: BodyCoding()).bodyStream)
        #expect(!stream.isReplayable)
        #expect(stream.length == nil)
        _ = try await stream.bytes()
        await #expect(throws: MessageFault.self) { try await stream.bytes() }
    }

    @Test("M21 a large form in memory is streamed in pieces; no temporary file is made for any form")
    func largeInMemory() async throws {
        let body = HTTPBody.multipart([.data("big", Data(count: 12_000_000), filename: "big.bin")], boundary: "B")
        let stream = try #require(try body.encoded(with: BodyCoding()).bodyStream)
        let reader = try stream.open()
        let sizes = try BodyStreamTests.sizes(reader, upTo: 65_536)
        reader.close()
        #expect(sizes.allSatisfy { $0 <= 65_536 })
        #expect(Int64(sizes.reduce(0, +)) == stream.length)
    }

    @Test("M21 a missing file fails the form before anything is sent")
    func missingFile() {
        let body = HTTPBody.multipart([.file("f", URL(fileURLWithPath: "/nowhere/gone.bin"))])
        #expect(throws: MessageFault.self) { try body.encoded(with: BodyCoding()) }
    }

    @Test("M21 the open file is closed when reading stops before its end")
    func closedEarly() throws {
        let closed = LockBox(0)
        let part = HTTPBodyStream(length: 10, isReplayable: true) { CountingReader(closed) }
        let reader = try #require(try HTTPBody.multipart([.stream("s", part)]).encoded(with: BodyCoding()).bodyStream)
            .open()
        _ = try reader.read(upTo: 1000, whenReady: {})
        _ = try reader.read(upTo: 1000, whenReady: {})
        reader.close()
        #expect(closed.withLock { $0 } == 1)
    }

    private final class CountingReader: HTTPBodyReader {
        private let closed: LockBox<Int>
        init(_ closed: LockBox<Int>) { self.closed = closed }
        func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) -> HTTPBodyPiece {
            .bytes(Data("x".utf8))
        }
        func close() { closed.withLock { $0 += 1 } }
    }

    @Test(
        "A file's type goes by its extension",
        arguments: [
            ("a.PNG", "image/png"), ("a.tar.gz", "application/gzip"), ("a", "application/octet-stream"),
            (".png", "application/octet-stream"), ("a.unheard", "application/octet-stream"),
            ("a.", "application/octet-stream"),
        ])
    func mediaTypes(name: String, type: String) {
        #expect(MediaType.ofFile(named: name) == type)
    }
}
