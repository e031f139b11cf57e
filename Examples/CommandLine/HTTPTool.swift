import Baton
import BatonTesting
import Foundation

/// `http`: sends one request, or the chain that a file describes.
@main
enum HTTPTool {
    static func main() async {
        do {
            let options = try ToolOptions(Array(CommandLine.arguments.dropFirst()))
            if options.showsHelp { return print(ToolOptions.usage) }
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("http: \(error)\n".utf8))
            exit(error is ToolOptions.Mistake ? 2 : 1)
        }
    }

    static func run(_ options: ToolOptions) async throws {
        let server = options.isDemo ? try Demo.serve() : nil
        defer { server?.stop() }
        let timeline = Timeline()
        var baseURL = server?.baseURL
        let plan: Chain<JSONValue>
        switch options.command {
        case .request(let method, let url):
            plan = Call(url, method: method, as: Data.self) {
                if let body = options.body { $0.body = .data(Data(body.utf8), contentType: "application/json") }
            }.map { (try? JSONValue(data: $0)) ?? .string(String(decoding: $0, as: UTF8.self)) }
        case .chain(let file):
            let chain = try ChainFile(data: Data(contentsOf: URL(fileURLWithPath: file)))
            baseURL = baseURL ?? chain.baseURL
            plan = chain.plan
            if options.showsPlan { return print(chain) }
        }
        if options.showsPlan { return print(plan) }

        let client = Client(baseURL: baseURL, observers: [timeline])
        let value: Result<JSONValue, BatonError>
        do throws(BatonError) {
            value = .success(try await client.run(plan))
        } catch {
            value = .failure(error)
        }
        // The picture is worth most when something went wrong.
        if options.showsTimeline { FileHandle.standardError.write(Data((timeline.text() + "\n").utf8)) }
        print(try value.get())
    }
}

/// A service to try the tool on.
enum Demo {
    static func serve() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.post, "/sign-in", .json(#"{"token": "t-1", "user": {"id": 7}}"#))
        server.on(.get, "/users/7") { request in
            guard request.fields[.authorization] == "Bearer t-1" else { return .status(401) }
            return .json(#"{"name": "Ada", "city": "London"}"#)
        }
        server.on(.get, "/weather/London", [.status(503), .json(#"{"city": "London", "sky": "grey"}"#)])
        return server
    }
}
