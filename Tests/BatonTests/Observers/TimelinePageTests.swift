import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("The timeline's page") struct TimelinePageTests {
    /// A sign-in that is followed by a batch in which some items fail once, some for good, and all wait for each other;
    /// then a request that is cancelled, and one with a long name.
    private func page(items: Int) async throws -> (page: String, attempts: Int) {
        let timeline = Timeline(maxAttempts: 20_000)
        let transport = ScriptedTransport { request, time in
            let number = request.number ?? 0
            if number < 0 { return .silence }
            let length = Duration.milliseconds(20 + number * 37 % 160)
            if number % 10 == 3, time == 1 { return .fail(.connectionLost, after: length / 3) }
            if number % 40 == 5 { return .reply(.status(404), after: length) }
            var response = HTTPResponse.item(number)
            var metrics = TransportMetrics()
            if number % 8 == 0 { (metrics.nameLookup, metrics.connect) = (.milliseconds(3), .milliseconds(6)) }
            (metrics.send, metrics.wait, metrics.receive) = (.milliseconds(1), length / 2, length / 4)
            metrics.remoteAddress = "127.0.0.1:80"
            response.metrics = metrics
            return .reply(response, after: length)
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.observers = [timeline]
                $0.maxConcurrency = 8
                $0.retry = RetryPolicy(backoff: .constant(.milliseconds(50)))
                $0.retryBudget = nil
            }
        ) { client, _ in
            let batch = Batch((1...items).map { GetItem(n: $0) }, maxConcurrency: 12)
            _ = try await client.run(GetItem(n: 1).then { _ in batch })
            let cancelled = client.start(GetItem(n: -1))
            _ = client.start(Call("/a/path/that/is/far/too/long/for/its/column?and=a&query=beside", as: Item.self))
            _ = try await client.run(GetItem(n: 2))
            cancelled.cancel()
            _ = await cancelled.outcome
        }
        return (timeline.html(title: "\(items) requests in a batch"), timeline.attemptCount)
    }

    /// `.ci/timeline` names a folder, and has a browser look at what is written there.
    @Test("It has every attempt of a few requests, of some hundred and of ten thousand", arguments: [8, 270, 9_087])
    func sizes(items: Int) async throws {
        let (page, attempts) = try await page(items: items)
        #expect(attempts == items + (items + 7) / 10 + 4)
        let data = try #require(page.firstRange(of: #"id="data">"#))
        let json = try JSONValue(data: Data(page[data.upperBound...].prefix { $0 != "<" }.utf8))
        let calls = try #require(json["rows"].array?.filter { $0["k"].string == "call" })
        #expect(calls.map { $0["a"].array?.count ?? 0 }.reduce(0, +) == attempts)
        guard let folder = ProcessInfo.processInfo.environment["BATON_PAGES"] else { return }
        try Data(page.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(attempts).html"))
    }
}
