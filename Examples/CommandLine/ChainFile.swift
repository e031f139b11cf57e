import Baton
import Foundation

/// A chain as a file says it. Each step may use what earlier steps yielded: `{signIn.token}` is the value at `token` in
/// the output of the step `signIn`.
struct ChainFile: Codable {
    struct Step: Codable, Sendable {
        let name: String
        var method: String?
        let path: String
        var fields: [String: String]?
        var json: JSONValue?
    }

    var baseURL: String?
    let steps: [Step]

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    init(data: Data) throws {
        self = try JSONDecoder().decode(ChainFile.self, from: data)
        if steps.isEmpty { throw Mistake(description: "the file has no steps") }
    }

    /// One step after the other; it yields the last one's output.
    var plan: Chain<JSONValue> {
        var outputs = Chain<[String: JSONValue]>.value([:])
        for step in steps {
            outputs = outputs.then { known in
                try step.request(knowing: known).map { output in
                    known.merging([step.name: output, "": output]) { $1 }
                }
            }
        }
        return outputs.map { $0[""] ?? .null }
    }
}

extension ChainFile.Step {
    /// The request with the outputs of earlier steps filled in.
    func request(knowing outputs: [String: JSONValue]) throws -> Chain<JSONValue> {
        let path = try Self.fill(path, from: outputs)
        let fields = try (fields ?? [:]).mapValues { try Self.fill($0, from: outputs) }
        let json = try json.map { try Self.fill($0, from: outputs) }
        return Call(path, method: HTTPMethod(rawValue: method?.uppercased() ?? "GET"), as: Data.self) { call in
            for (name, value) in fields { call.fields[HTTPFieldName(name)] = value }
            if let json { call.body = .json(json) }
        }.map { try JSONValue(data: $0) }
    }

    private static func fill(_ value: JSONValue, from outputs: [String: JSONValue]) throws -> JSONValue {
        switch value {
        case .string(let text): .string(try fill(text, from: outputs))
        case .array(let values): .array(try values.map { try fill($0, from: outputs) })
        case .object(let values): .object(try values.mapValues { try fill($0, from: outputs) })
        default: value
        }
    }

    private static func fill(_ text: String, from outputs: [String: JSONValue]) throws -> String {
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            guard let value = JSONValue.object(outputs).value(at: String(name)) else {
                throw ChainFile.Mistake(description: "no earlier step has yielded \(name)")
            }
            filled += rest[..<open] + (value.string ?? value.description)
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }
}

extension ChainFile: CustomStringConvertible {
    /// The steps by name, which the plan does not know: to it, each is a closure.
    var description: String {
        steps.enumerated().map { "[\($0)] \($1.name): \($1.method ?? "GET") \($1.path)" }.joined(separator: "\n")
    }
}
