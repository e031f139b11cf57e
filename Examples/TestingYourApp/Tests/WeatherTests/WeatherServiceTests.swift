import Baton
import BatonTesting
import Testing
import Weather

@Suite("The weather service") struct WeatherServiceTests {
    private let mock = MockTransport()

    @Test("A city that is busy is asked again after ten seconds, and one that is unknown is left out")
    func busy() async throws {
        mock.on(.get, "/users/ada/cities").reply(json: #"["London", "Paris", "Nowhere"]"#)
        mock.on(.get, "/forecasts/London").reply(json: #"{"city": "London", "degrees": 12}"#)
        mock.on(.get, "/forecasts/Paris").reply(status: 503).reply(json: #"{"city": "Paris", "degrees": 20}"#)
        mock.on(.get, "/forecasts/Nowhere").reply(status: 404)

        // No network, and the ten seconds pass by themselves.
        try await withVirtualTime(transport: mock) { client, clock in
            let forecasts = try await WeatherService(client: client).forecasts(for: "ada")
            #expect(forecasts.mapValues(\.degrees) == ["London": 12, "Paris": 20])
            #expect(clock.elapsed == .seconds(10))
        }
        try mock.verify()
    }

    @Test("No more than three forecasts are asked for at once")
    func limit() async throws {
        let cities = ["a", "b", "c", "d", "e"]
        mock.on(.get, "/users/ada/cities").reply(json: #"["a", "b", "c", "d", "e"]"#)
        for city in cities {
            mock.on(.get, "/forecasts/\(city)").reply(json: #"{"city": "\#(city)", "degrees": 1}"#, after: .seconds(1))
        }
        try await withVirtualTime(transport: mock) { client, clock in
            let forecasts = try await WeatherService(client: client).forecasts(for: "ada")
            #expect(forecasts.count == 5)
            // Five, three at a time, each a second.
            #expect(clock.elapsed == .seconds(2))
        }
    }

    @Test("Without the list of cities there is nothing, and the error says which step failed")
    func failure() async throws {
        mock.on(.get, "/users/ada/cities").reply(status: 403)
        try await withVirtualTime(transport: mock) { client, _ in
            let error = await #expect(throws: BatonError.self) {
                try await WeatherService(client: client).forecasts(for: "ada")
            }
            #expect(error?.response?.status == 403)
            #expect(error?.path == "chain[0]")
        }
    }
}
