import Baton
import BatonTesting
import Foundation

/// Starts a job, asks until it is done, and reads its results page by page.
@main
enum Poller {
    static func main() async throws {
        // Waits of two seconds pass in no time: the same program runs against a server with a client of its own.
        try await withVirtualTime(transport: Reports.mock()) { client, clock in
            let job = try await client.run(
                StartJob()
                    .then { job in
                        GetJob(id: job.id).repeated(every: .seconds(2), atMost: 30) { $0.isDone }
                    }
                    .deadline(.seconds(60)))
            print("job \(job.id) is done after \(clock.elapsed)")

            var lines = 0
            let pages = Pages(GetLines(job: job.id)) { page in page.next.map { GetLines(job: job.id, cursor: $0) } }
            for try await page in client.stream(pages) {
                lines += page.lines.count
                print("page with \(page.lines.count) lines")
            }
            print("\(lines) lines in all")
            if lines != 7 { exit(1) }
        }
    }
}

struct StartJob: Request {
    typealias Output = Job
    var method: HTTPMethod { .post }
    var path: String { "/jobs" }
    // The server may get it twice under this key and still makes one job, so that it can be retried.
    var options: RequestOptions { RequestOptions { $0.idempotency = .keyed() } }
}

struct Job: Codable, Response {
    let id: Int
    var isDone = false
}

struct GetJob: Request {
    typealias Output = Job
    let id: Int
    var path: String { "/jobs/\(id)" }
}

struct GetLines: Request {
    struct Output: Codable, Response {
        let lines: [String]
        let next: String?
    }
    let job: Int
    var cursor: String?
    var path: String { "/jobs/\(job)/lines" }
    var query: QueryParameters { cursor.map { ["cursor": .string($0)] } ?? [:] }
}

/// The server, in memory.
enum Reports {
    static func mock() -> MockTransport {
        let mock = MockTransport()
        mock.on(StartJob.self).reply(status: 503, times: 1).reply(json: #"{"id": 7, "isDone": false}"#)
        mock.on(.get, "/jobs/7").reply(json: #"{"id": 7, "isDone": false}"#, times: 4)
            .reply(json: #"{"id": 7, "isDone": true}"#)
        mock.on(.get, "/jobs/7/lines").reply(json: #"{"lines": ["a", "b", "c"], "next": "3"}"#)
        mock.on(.get, "/jobs/7/lines?cursor=3").reply(json: #"{"lines": ["d", "e", "f"], "next": "6"}"#)
        mock.on(.get, "/jobs/7/lines?cursor=6").reply(json: #"{"lines": ["g"], "next": null}"#)
        return mock
    }
}
