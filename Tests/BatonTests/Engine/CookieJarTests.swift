import Baton
import BatonTesting
import Foundation
import Testing

@Suite("A client with a cookie jar") struct CookieJarTests {
    @Test("Cookies come and go with every exchange, hops and failures included", arguments: Carrier.allCases)
    func exchanges(_ carrier: Carrier) async throws {
        let jar = CookieJar()
        let hosts = try HostPair(carrier, configure: { $0.cookies = jar }) { asked in
            switch asked.target {
            case "/in":
                HTTPResponse(
                    status: 302,
                    fields: [
                        .location: "/home", .setCookie: "s=1; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
                        .setCookie: "t=2; Path=/deep",
                    ])
            case "/fails": HTTPResponse(status: 400, fields: [.setCookie: "f=3; Path=/"])
            default: .status(200)
            }
        }
        _ = try await hosts.client.run(Call("/in", as: Data.self))
        _ = try await failure { try await hosts.client.run(Call("/fails", as: Data.self)) }
        _ = try await hosts.client.run(Call("/deep/x", as: Data.self) { $0.fields = [.cookie: "own=0"] })
        #expect(hosts.lines == ["GET a/in", "GET a/home", "GET a/fails", "GET a/deep/x"])
        #expect(hosts.asked.map { $0.fields[.cookie] } == [nil, "s=1", "s=1", "own=0; t=2; s=1; f=3"])
        #expect(jar.cookies.count == 3)
    }

    @Test("A hop gets the cookies of its own host, and those of the request do not go along")
    func foreignHop() async throws {
        let jar = CookieJar()
        jar.set(Cookie("b", "1", domain: "b"))
        jar.set(Cookie("a", "1", domain: "a"))
        let hosts = try HostPair(
            .mock, configure: { $0.cookies = jar }, HostPair.table(["a/x": .redirect("{b}/y"), "b/y": .status(200)]))
        _ = try await hosts.client.run(Call("/x", as: Data.self) { $0.fields = [.cookie: "own=0"] })
        #expect(hosts.asked.map { $0.fields[.cookie] } == ["own=0; a=1", "b=1"])
    }

    @Test("Clients share cookies only where they share a jar; without one there are none", arguments: Carrier.allCases)
    func sharing(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { _ in HTTPResponse(status: 200, fields: [.setCookie: "s=1; Path=/"]) }
        let mine = hosts.client.with { $0.cookies = CookieJar() }
        for client in [hosts.client, mine, hosts.client, mine, hosts.client.with { $0.cookies = CookieJar() }] {
            _ = try await client.run(Call("/x", as: Data.self))
        }
        #expect(hosts.asked.map { $0.fields[.cookie] } == [nil, nil, nil, "s=1", nil])
    }
}
