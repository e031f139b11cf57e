import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Downloads")
struct DownloadTests {
    private let resource = Resource()

    @Test("A body is written to its file, folders that are missing are made, and nothing else is left")
    func simple() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200, fields: resource.fields, chunks: resource.pieces(5_000))
        let target = folder.file("a/b/file.bin")
        let file = try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            try await client.run(GetFile().download(to: target))
        }
        #expect(file.url == target && file.byteCount == 5_000 && file.resumedFrom == 0 && file.head.status == 200)
        #expect(try Data(contentsOf: target) == resource.bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b").path) == ["file.bin"])
        #expect(mock.calls.first?.fields[.acceptEncoding] == "identity")
    }

    @Test("A response that comes as one, or from an interceptor, is written too", arguments: [true, false])
    func whole(fromInterceptor: Bool) async throws {
        struct Answering: Interceptor {
            func intercept(
                _ request: HTTPRequest, context: AttemptContext, next: Next
            ) async throws -> HTTPResponse { HTTPResponse(status: 200, body: Data("made up".utf8)) }
        }
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200, body: Data("made up".utf8))
        try await withVirtualTime(
            transport: mock, seed: 1, configure: { if fromInterceptor { $0.interceptors = [Answering()] } }
        ) { client, _ in
            let file = try await client.run(GetFile().download(to: folder.file("x")))
            #expect(file.byteCount == 7)
        }
        #expect(try String(contentsOf: folder.file("x"), encoding: .utf8) == "made up")
        #expect(folder.names == ["x"])
    }

    @Test("A refused response is no file: its body is in the error")
    func refused() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 404, chunks: [Data("no ".utf8), Data("such".utf8)])
        let error = try await failure {
            try await withVirtualTime(transport: mock, seed: 1) { client, _ in
                try await client.run(GetFile().download(to: folder.file("x")))
            }
        }
        #expect(error.code == .unacceptableStatus && error.response?.body == Data("no such".utf8))
        #expect(folder.names == [])
    }

    @Test("The body of a refused response is kept up to a bound")
    func boundedRefusal() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 404, chunks: Array(repeating: Data(count: 400_000), count: 5))
        let error = try await failure {
            try await withVirtualTime(transport: mock, seed: 1) { client, _ in
                try await client.run(GetFile().download(to: folder.file("x")))
            }
        }
        #expect(error.response?.body.count == 1 << 20)
    }

    @Test("A file that is there makes it fail before anything is sent, is replaced, or kept beside the new one")
    func existing() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200, fields: resource.fields, chunks: resource.pieces(5_000))
        let target = folder.file("file.bin")
        try Data("old".utf8).write(to: target)
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            let error = try await failure { try await client.run(GetFile().download(to: target)) }
            #expect(error.code == .fileFailed && error.message.contains("file.bin"))
            #expect(mock.calls.isEmpty)
            let second = try await client.run(GetFile().download(to: target, existing: .keepBoth))
            let third = try await client.run(GetFile().download(to: target, existing: .keepBoth))
            #expect([second, third].map(\.url.lastPathComponent) == ["file 2.bin", "file 3.bin"])
            #expect(try Data(contentsOf: target) == Data("old".utf8))
            _ = try await client.run(GetFile().download(to: target, existing: .replace))
            #expect(try Data(contentsOf: target) == resource.bytes)
        }
        #expect(folder.names == ["file 2.bin", "file 3.bin", "file.bin"])
    }

    @Test("A file that comes meanwhile is not replaced unasked")
    func comesMeanwhile() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        let target = folder.file("x")
        mock.on(.get, "/file").reply { _ in
            try Data("other".utf8).write(to: target)
            return HTTPResponse(status: 200, body: Data("mine".utf8))
        }
        try await fails(.fileFailed) {
            try await withVirtualTime(transport: mock, seed: 1) { client, _ in
                try await client.run(GetFile().download(to: target))
            }
        }
        #expect(try String(contentsOf: target, encoding: .utf8) == "other")
        #expect(folder.names == ["x"])
    }

    @Test("Where it cannot be written it fails before anything is sent")
    func unwritable() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200)
        try Data().write(to: folder.file("plain"))
        let places = [folder.url, folder.file("plain/x"), URL(string: "http://example.com/x")!]
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            for place in places {
                try await fails(.fileFailed) { try await client.run(GetFile().download(to: place)) }
            }
        }
        #expect(mock.calls.isEmpty)
    }

    @Test("A full disk stops the transfer, is not tried again, and leaves nothing", arguments: [ENOSPC, EIO])
    func fullDisk(code: Int32) async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(
            status: 200, fields: resource.fields, chunks: resource.pieces(5_000), every: .seconds(1))
        let request = try HTTPRequest(url: "http://mock/file")
        let sink = FileSink(request, to: folder.file("x"), .fail) { _, _, _, _ in
            errno = code
            return -1
        }
        try sink.load()
        let call = CallDescription(request: request, output: HTTPResponse.self, options: RequestOptions()).into(sink)
        try await withVirtualTime(transport: mock, seed: 1) { client, clock in
            let error = try await failure { try await client.run(Chain<HTTPResponse>(node: .call(call))) }
            #expect(error.code == .fileFailed && error.attempts == 1)
            #expect((error.underlying as? POSIXError)?.code.rawValue == code)
            #expect(clock.elapsed < .seconds(1))
        }
        #expect(mock.calls.count == 1)
        #expect(await folder.settles([]))
    }

    @Test("Another attempt asks for the rest", arguments: 0..<5 as Range<UInt64>)
    func resumesInAttempts(seed: UInt64) async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        mock.on(.get, "/file")
            .reply(status: 200, fields: resource.fields, chunks: resource.pieces(2_000), failing: .connectionLost)
            .then.reply { resource.answer($0.fields) }
        try await withVirtualTime(transport: mock, seed: seed, configure: { $0.retry = .quick }) { client, _ in
            let file = try await client.run(GetFile().download(to: folder.file("x")))
            #expect(file.resumedFrom == 2_000 && file.byteCount == 5_000 && file.head.status == 206)
        }
        #expect(mock.calls.map { $0.fields[.range] } == [nil, "bytes=2000-"])
        #expect(mock.calls.map { $0.fields[.ifRange] } == [nil, "\"one\""])
        #expect(try Data(contentsOf: folder.file("x")) == resource.bytes)
        #expect(folder.names == ["x"])
    }

    @Test("A later download goes on where a failed or cancelled one ended", arguments: [true, false])
    func resumesLater(cancels: Bool) async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        let target = folder.file("x")
        if cancels {
            mock.on(.get, "/file").reply(
                status: 200, fields: resource.fields, chunks: resource.pieces(2_000) + [Data()], every: .seconds(9),
                times: 1)
        } else {
            mock.on(.get, "/file").reply(
                status: 200, fields: resource.fields, chunks: resource.pieces(2_000), failing: .connectionLost, times: 1
            )
        }
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            let run = client.start(GetFile().download(to: target))
            if cancels {
                try await clock.sleep(for: .seconds(10))
                run.cancel()
            }
            _ = await run.outcome
            await clock.settle()
        }
        #expect(await folder.settles([".x.partial", ".x.resume"]))
        mock.on(.get, "/file").reply { resource.answer($0.fields) }
        // Another client, as another process would have.
        let file = try await withVirtualTime(transport: mock, seed: 2) { client, _ in
            try await client.run(GetFile().download(to: target))
        }
        #expect(file.resumedFrom == 2_000)
        #expect(try Data(contentsOf: target) == resource.bytes)
        #expect(folder.names == ["x"])
    }

    enum Spoiling: CaseIterable, Sendable {
        case corruptNote, shortFile, otherURL, noNote, newTag, noRanges, tooLong, otherPart, partOfAnother
    }

    @Test("What cannot be gone on with is started over", arguments: Spoiling.allCases)
    func startsOver(spoiling: Spoiling) async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        let target = folder.file("x")
        mock.on(.get, "/file").reply(
            status: 200, fields: resource.fields, chunks: resource.pieces(2_000), failing: .connectionLost, times: 1)
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            _ = await client.start(GetFile().download(to: target)).outcome
            await clock.settle()
        }
        #expect(await folder.settles([".x.partial", ".x.resume"]))
        let (partial, note) = (folder.file(".x.partial"), folder.file(".x.resume"))
        var after = resource
        switch spoiling {
        case .corruptNote: try Data("{\"version\":1,".utf8).write(to: note)
        case .shortFile: try Data(count: 10).write(to: partial)
        case .otherURL:
            let text = try String(contentsOf: note, encoding: .utf8)
            try Data(text.replacingOccurrences(of: "mock", with: "knock").utf8).write(to: note)
        case .noNote: try FileManager.default.removeItem(at: note)
        case .newTag: (after.tag, after.bytes) = ("\"two\"", LoopbackServer.pattern(77..<4_000))
        case .tooLong: (after.bytes) = (LoopbackServer.pattern(77..<1_000))
        case .noRanges, .otherPart, .partOfAnother: break
        }
        let now = after
        mock.on(.get, "/file").reply { request in
            var fields = request.fields
            if spoiling == .noRanges { fields[.range] = nil }
            var response = now.answer(fields)
            if response.status == 206, spoiling == .otherPart {
                response.fields[.contentRange] = "bytes 3000-4999/5000"
            }
            if response.status == 206, spoiling == .partOfAnother { response.fields[.etag] = "\"other\"" }
            return response
        }
        let file = try await withVirtualTime(transport: mock, seed: 2, configure: { $0.retry = .none }) { client, _ in
            try await client.run(GetFile().download(to: target))
        }
        #expect(file.resumedFrom == 0 && file.byteCount == Int64(now.bytes.count))
        #expect(try Data(contentsOf: target) == now.bytes)
        #expect(folder.names == ["x"])
    }

    @Test("A part that begins before what is missing is cut to fit")
    func overlapping() async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        mock.on(.get, "/file")
            .reply(status: 200, fields: resource.fields, chunks: resource.pieces(2_000), failing: .connectionLost)
            .then.reply { request in
                var fields = request.fields
                fields[.range] = "bytes=1500-"
                return resource.answer(fields)
            }
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .quick }) { client, _ in
            _ = try await client.run(GetFile().download(to: folder.file("x")))
        }
        #expect(try Data(contentsOf: folder.file("x")) == resource.bytes)
    }

    @Test("Without something that names the state of the resource nothing is gone on with or kept")
    func noValidator() async throws {
        for fields: HTTPFields in [[:], ["ETag": "W/\"weak\""], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]] {
            let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
            mock.on(.get, "/file").reply(
                status: 200, fields: fields, chunks: resource.pieces(2_000), failing: .connectionLost)
            try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .quick }) { client, clock in
                try await fails(.connectionLost) { try await client.run(GetFile().download(to: folder.file("x"))) }
                await clock.settle()
            }
            #expect(mock.calls.count == 3 && mock.calls.allSatisfy { !$0.fields.contains(.range) })
            #expect(await folder.settles([]))
        }
    }

    @Test("A date of change that is older than the response is as good as a tag")
    func dateOfChange() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let strong: HTTPFields = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:49:39 GMT"]
        let weak: HTTPFields = ["Last-Modified": date, "Date": date]
        #expect(ResumeNote.Validator(strong)?.text == date)
        #expect(ResumeNote.Validator(weak) == nil)
    }

    @Test("A body that is shorter than announced is no file")
    func truncated() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(status: 200, fields: ["Content-Length": "10"], chunks: [Data(count: 9)])
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            try await fails(.connectionLost) { try await client.run(GetFile().download(to: folder.file("x"))) }
            await clock.settle()
        }
        #expect(await folder.settles([]))
    }

    @Test("The timeout of an attempt is one of silence")
    func silence() async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        let drops = (0..<10).map { resource.bytes.dropFirst($0 * 500).prefix(500) }
        mock.on(.get, "/file").reply(status: 200, chunks: drops.map { Data($0) }, every: .seconds(50), times: 1)
            .then.reply(status: 200, chunks: drops.map { Data($0) }, every: .seconds(61))
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            _ = try await client.run(GetFile().download(to: folder.file("x")))
            #expect(clock.elapsed == .seconds(450))
            try await fails(.timedOut) {
                try await client.run(GetFile().download(to: folder.file("y")))
            }
            #expect(clock.elapsed == .seconds(510))
            await clock.settle()
        }
        #expect(await folder.settles(["x"]))
    }

    @Test("Two downloads to one place do not write into each other's file")
    func together() async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), resource)
        mock.on(.get, "/file").reply(
            status: 200, fields: resource.fields, chunks: resource.pieces(5_000), every: .seconds(1))
        let target = folder.file("x")
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            let files = try await client.run(
                Batch((0..<4).map { _ in GetFile().download(to: target, existing: .keepBoth) }))
            #expect(files.allSucceeded)
        }
        #expect(folder.names == ["x", "x 2", "x 3", "x 4"])
        for name in folder.names { #expect(try Data(contentsOf: folder.file(name)) == resource.bytes) }
    }

    @Test(
        "Parts of a whole are read from their field",
        arguments: [
            ("bytes 5-9/10", [5, 9, 10]), ("bytes 0-0/*", [0, 0]), ("Bytes 1-2/3", [1, 2, 3]), ("bytes 5-4/10", []),
            ("bytes 5-10/10", []), ("bytes */10", []), ("bytes a-b/c", []), ("bytes 1-2", []), ("items 1-2/3", []),
            ("bytes 1-99999999999999999999/*", []), ("bytes -1-2/3", []), ("", []),
        ] as [(String, [Int64])])
    func contentRange(text: String, numbers: [Int64]) {
        let range = ContentRange(text)
        #expect(range.map { [$0.start, $0.end] + ($0.total.map { [$0] } ?? []) } ?? [] == numbers)
    }

    @Test(
        "A place that is gone or taken when the body is complete is an error", arguments: [ExistingFile.fail, .replace])
    func lostPlace(existing: ExistingFile) throws {
        let (folder, other) = (try Folder(), try Folder())
        let file = try PartialFile.open(for: folder.file("x"))
        try file.write(Data("abc".utf8), at: 0)
        let gone = other.file("gone").appendingPathComponent("x")
        let error = #expect(throws: BatonError.self) { _ = try file.place(at: gone, existing) }
        #expect(error?.code == .fileFailed)
        #expect((error?.underlying as? POSIXError)?.code == .ENOENT)
        // The bytes are still there, for a better place.
        #expect(try file.place(at: folder.file("y"), existing) == folder.file("y"))
        #expect(try Data(contentsOf: folder.file("y")) == Data("abc".utf8))
    }
}
