import Baton
import Foundation
import Testing

@Suite("Bodies that are read while they are sent")
struct BodyStreamTests {
    @Test("A stream in memory yields its bytes in pieces of the size that is asked for")
    func memory() async throws {
        let bytes = Data((0..<200).map { UInt8($0) })
        let stream = HTTPBodyStream.data(bytes)
        #expect(stream.length == 200)
        #expect(try await stream.bytes() == bytes)
        let reader = try stream.open()
        #expect(try Self.sizes(reader, upTo: 64) == [64, 64, 64, 8])
        reader.close()
        #expect(try await HTTPBodyStream.data(Data()).bytes() == Data())
    }

    @Test("T30 a file is replayable: each attempt opens it anew and yields identical bytes")
    func file() async throws {
        let file = try TemporaryFile(Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }), name: "a b.pdf")
        let body = HTTPBody.file(file.url)
        #expect(body.isReplayable)
        #expect(body.contentType == "application/pdf")
        let encoded = try body.encoded(with: BodyCoding())
        #expect(encoded.length == 100_000)
        #expect(encoded.isReplayable)
        let stream = try #require(encoded.bodyStream)
        let first = try await stream.bytes()
        #expect(first == file.contents)
        #expect(try await stream.bytes() == first)
    }

    @Test("A file through a symbolic link is the file, and an empty file is an empty body")
    func linkAndEmpty() async throws {
        let file = try TemporaryFile(Data(), name: "empty")
        let link = file.folder.appendingPathComponent("link.txt")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
        let encoded = try HTTPBody.file(link).encoded(with: BodyCoding())
        #expect(encoded.length == 0)
        #expect(encoded.contentType == "text/plain")
        #expect(try await encoded.bodyStream?.bytes() == Data())
    }

    @Test("M21 a file that cannot be sent fails the request before anything is sent, and is named")
    func missing() throws {
        let file = try TemporaryFile(Data(), name: "x")
        let urls = [file.folder.appendingPathComponent("gone.bin"), file.folder, URL(string: "https://h/gone.bin")!]
        for url in urls {
            #expect {
                try HTTPBody.file(url).encoded(with: BodyCoding())
            } throws: { error in
                (error as? MessageFault)?.reason.contains(url.lastPathComponent) == true
            }
        }
    }

    @Test(
        "M21 a file that shrinks, grows or goes away after the request was built fails the attempt", arguments: [3, 30])
    func changed(size: Int) async throws {
        let file = try TemporaryFile(Data(count: 10), name: "x")
        let stream = try #require(try HTTPBody.file(file.url).encoded(with: BodyCoding()).bodyStream)
        try Data(count: size).write(to: file.url)
        await #expect(throws: MessageFault.self) { try await stream.bytes() }
        try FileManager.default.removeItem(at: file.url)
        await #expect(throws: MessageFault.self) { try await stream.bytes() }
    }

    @Test("The elements of a sequence are sent in order, empty ones left out")
    func sequence() async throws {
        let body = HTTPBody.stream(from: Chunks(["ab", "", "cde", "f"]))
        let stream = try #require(try body.encoded(with: BodyCoding()).bodyStream)
        #expect(stream.length == nil)
        #expect(String(decoding: try await stream.bytes(), as: UTF8.self) == "abcdef")
    }

    @Test("T30 a sequence is sent at most once: it is not replayable, and a second reading is refused")
    func oneShot() async throws {
        let body = HTTPBody.stream(from: Chunks(["ab"]), length: 2)
        #expect(!body.isReplayable)
        #expect(body.length == 2)
        let stream = try #require(body.bodyStream)
        _ = try await stream.bytes()
        #expect(throws: MessageFault.self) { try stream.open() }
    }

    @Test("T30 a factory of sequences or input streams yields identical bytes on both attempts")
    func factories() async throws {
        let sequence = HTTPBodyStream(length: 6) { Chunks(["abc", "def"]) }
        let input = HTTPBodyStream.inputStream(length: 6) { InputStream(data: Data("abcdef".utf8)) }
        for stream in [sequence, input] {
            #expect(stream.isReplayable)
            for _ in 1...2 { #expect(String(decoding: try await stream.bytes(), as: UTF8.self) == "abcdef") }
        }
    }

    @Test("An element is pulled only when it is wanted, one at a time")
    func demand() async throws {
        let source = Chunks((0..<10).map(String.init))
        let reader = try HTTPBodyStream(from: source, length: nil).open()
        let signal = Flag()
        #expect(source.pulled == 0)
        #expect(Self.isLater(try reader.read(upTo: 100, whenReady: { signal.send() })))
        await signal.wait()
        #expect(source.pulled == 1)
        guard case .bytes(let bytes) = try reader.read(upTo: 100, whenReady: {}) else {
            Issue.record("no bytes"); return
        }
        #expect(bytes == Data("0".utf8))
        #expect(source.pulled == 1)
        reader.close()
    }

    @Test("Closing stops a pull that is under way, and the sequence is told")
    func closing() async throws {
        let source = Stuck()
        let reader = try HTTPBodyStream(from: source, length: nil).open()
        #expect(Self.isLater(try reader.read(upTo: 100, whenReady: {})))
        await source.started.wait()
        reader.close()
        await source.cancelled.wait()
    }

    @Test("What a sequence throws fails the reading")
    func failing() async throws {
        let stream = HTTPBodyStream(from: Chunks(["a"], error: CocoaError(.fileReadUnknown)), length: nil)
        await #expect(throws: CocoaError.self) { try await stream.bytes() }
    }

    @Test("A body that is shorter or longer than its announced length fails", arguments: [1, 3])
    func wrongLength(length: Int64) async {
        let stream = HTTPBodyStream(length: length) { Chunks(["ab"]) }
        await #expect(throws: MessageFault.self) { try await stream.bytes() }
    }

    @Test("A body beyond the limit of a collector is refused")
    func limit() async {
        await #expect(throws: MessageFault.self) { try await HTTPBodyStream.data(Data(count: 11)).bytes(limit: 10) }
    }

    @Test(
        "D14 every kind of body knows whether it has a length",
        arguments: [
            (.none, 0, true), (.data(Data()), 0, true), (.text("é"), 2, true), (.form(["a": 1]), 3, true),
            (.json([1]), 3, true),
            (.stream(.data(Data(count: 5))), 5, true), (.stream(from: Chunks([])), nil, false),
            (.multipart([], boundary: "B"), 7, true),
        ] as [(HTTPBody, Int64?, Bool)])
    func framing(body: HTTPBody, length: Int64?, isReplayable: Bool) throws {
        let encoded = try body.encoded(with: BodyCoding())
        #expect(encoded.length == length)
        #expect(encoded.isReplayable == isReplayable)
        #expect(body.isReplayable == isReplayable)
    }

    static func isLater(_ piece: HTTPBodyPiece) -> Bool {
        if case .later = piece { true } else { false }
    }

    static func sizes(_ reader: any HTTPBodyReader, upTo limit: Int) throws -> [Int] {
        var sizes: [Int] = []
        while case .bytes(let bytes) = try reader.read(upTo: limit, whenReady: {}) { sizes.append(bytes.count) }
        return sizes
    }
}
