import Baton
import Foundation

/// The child process: reads requests from its standard input, answers on its standard output.
enum Child {
    static func serve() {
        while let line = readLine() {
            guard let request = try? JSONValue(data: Data(line.utf8)), let path = request["path"].string else {
                continue
            }
            let (status, body) = answer(path)
            let reply: JSONValue = ["id": request["id"], "status": .int(status), "body": body]
            FileHandle.standardOutput.write(reply.data + Data("\n".utf8))
        }
    }

    private static func answer(_ path: String) -> (status: Int64, body: JSONValue) {
        if path == "/words" { return (200, ["a", "baton", "conducts", "many", "players"]) }
        guard path.hasPrefix("/length/") else { return (404, ["error": .string("there is no \(path)")]) }
        return (200, .int(Int64(path.dropFirst(8).count)))
    }
}
