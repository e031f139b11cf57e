import Baton

/// What an app has: a service over a client that it is given.
public struct WeatherService: Sendable {
    let client: Client

    /// The client is the caller's, so a test can give one without a network.
    public init(client: Client) {
        self.client = client
    }

    /// The forecasts of the cities that a user follows, by name; a city whose forecast fails is left out.
    public func forecasts(for user: String) async throws(BatonError) -> [String: Forecast] {
        let plan = GetCities(user: user).then { cities in
            Batch(cities.map(GetForecast.init), maxConcurrency: 3)
                .reconnect { round in
                    let busy = round.failures.filter { $0.error.response?.status == 503 }.map(\.index)
                    return round.number < 3 ? .retry(busy, after: .seconds(10)) : .accept
                }
        }
        let report = try await client.run(plan)
        return Dictionary(uniqueKeysWithValues: report.successes.map { ($0.value.city, $0.value) })
    }
}

public struct Forecast: Codable, Response, Equatable {
    public let city: String
    public let degrees: Int
}

struct GetCities: Request {
    typealias Output = [String]
    let user: String
    var path: String { "/users/\(user)/cities" }
}

struct GetForecast: Request {
    typealias Output = Forecast
    let city: String
    var path: String { "/forecasts/\(city)" }
    // The service decides by itself what is sent again.
    var options: RequestOptions { RequestOptions { $0.retry = RetryPolicy.none } }
}
