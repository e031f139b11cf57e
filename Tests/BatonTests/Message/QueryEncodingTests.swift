import Baton
import Foundation
import Testing

@Suite("Parameters from values")
struct QueryEncodingTests {
    static var loose: [String: Any] {
        [
            "b": true, "o": Optional("xxx") as Any, "n": Int?.none as Any, "z": NSNull(), "i": 1, "d": 1.5,
            "nb": NSNumber(value: true), "ni": NSNumber(value: 1), "nd": NSNumber(value: 0.5), "f": Float(0.1),
            "big": UInt64.max, "list": [1, "x", NSNull(), true] as [Any], "deep": ["k": [Optional(2) as Any]],
            "oo": Optional(Optional(3)) as Any, "dec": Decimal(string: "0.10")!, "u": URL(string: "https://h/?a=b")!,
            "ns": NSString("text"), "nsa": NSArray(array: [NSNumber(value: false), "y"]),
        ]
    }

    @Test(
        "Q04 values of any type are written alike on every platform", arguments: [ParameterStyle.Nils.omitted, .empty])
    func untyped(nils: ParameterStyle.Nils) throws {
        let parameters = try QueryParameters(untyped: Self.loose, style: .init(nils: nils))
        let text = try #require(PercentEncoding.decode(parameters.encoded(.query), from: .query))
        let form = try #require(PercentEncoding.decode(parameters.encoded(.form), from: .form))
        let empty = nils == .empty
        let expected =
            "b=true&big=18446744073709551615&d=1.5&dec=0.1&deep[k][]=2&f=0.1&i=1&list[]=1&list[]=x"
            + (empty ? "&list[]=" : "") + "&list[]=true" + (empty ? "&n=" : "")
            + "&nb=true&nd=0.5&ni=1&ns=text&nsa[]=false&nsa[]=y&o=xxx&oo=3&u=https://h/?a=b" + (empty ? "&z=" : "")
        #expect(text == expected)
        #expect(form == expected)
    }

    private final class Opaque {}
    private enum Plain { case one }

    @Test("Q04 what cannot be written is refused, and the key path is named")
    func unsupported() {
        let values: [Any] = [Opaque(), Plain.one, { 1 }, Double.nan, [1: "x"]]
        for value in values {
            #expect {
                try QueryParameters(untyped: ["a": ["ok": 1, "b": [0, value]] as [String: Any]])
            } throws: { error in
                guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return false }
                return context.debugDescription.contains("a.b[1]")
                    && context.codingPath.map(\.stringValue) == ["a", "b", "Index 1"]
            }
        }
    }

    struct Filter: Encodable {
        struct Range: Encodable { let low, high: Int }
        enum Order: String, Encodable { case newest }
        var z = "last"
        var name: String? = "x y"
        var missing: String?
        var range = Range(low: 1, high: 2)
        var tags = ["a", "b"]
        var order = Order.newest
        var on = true
        var since = Date(timeIntervalSince1970: 1.25)
        var bytes = Data([1])
        var ratio: Float = 0.1
        var huge = UInt64.max
        var site = URL(string: "https://h/")!
        var lookup = ["q": 1, "c": 2, "m": 3]
    }

    @Test("An encodable value becomes parameters sorted by key")
    func encodable() throws {
        let text = try QueryParameters(encoding: Filter()).encoded(.query)
        #expect(
            PercentEncoding.decode(text, from: .query)
                == "bytes=AQ==&huge=18446744073709551615&lookup[c]=2&lookup[m]=3&lookup[q]=1&name=x y&on=true"
                + "&order=newest&range[high]=2&range[low]=1&ratio=0.1&since=1970-01-01T00:00:01.250Z"
                + "&site=https://h/&tags[]=a&tags[]=b&z=last")
    }

    @Test("An encodable value is written in the style it is given")
    func encodableStyle() throws {
        let style = ParameterStyle(arrays: .repeated, nesting: .dotted, booleans: .numbers, dates: .seconds)
        let text = try QueryParameters(encoding: Filter(), style: style).encoded(.form)
        #expect(text.contains("range.high=2&range.low=1"))
        #expect(text.contains("since=1.25&"))
        #expect(text.contains("on=1&"))
        #expect(text.contains("tags=a&tags=b"))
    }

    private class Base: Encodable {
        enum Keys: CodingKey { case base }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(1, forKey: .base)
        }
    }

    private final class Derived: Base {
        enum More: CodingKey { case list, nested, nothing }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: More.self)
            try super.encode(to: container.superEncoder())
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            try list.encodeNil()
            var object = list.nestedContainer(keyedBy: More.self)
            try object.encode(true, forKey: .nested)
            try container.encodeNil(forKey: .nothing)
        }
    }

    @Test("Nested containers and super encoders are followed")
    func containers() throws {
        let text = try QueryParameters(encoding: Derived()).encoded(.query)
        #expect(
            PercentEncoding.decode(text, from: .query) == "list[0]=1&list[2][nested]=true&super[base]=1")
    }

    @Test("A value without names is refused, and a number that is not finite with its path")
    func refused() {
        #expect(throws: EncodingError.self) { try QueryParameters(encoding: [1, 2]) }
        #expect(throws: EncodingError.self) { try QueryParameters(encoding: "text") }
        #expect {
            try QueryParameters(encoding: ["a": ["b": Double.infinity]])
        } throws: { error in
            guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return false }
            return context.codingPath.map(\.stringValue) == ["a", "b"]
        }
    }

    static let dictionary = ["zeta": 1, "alpha": 2, "mid": 3, "beta": 4, "omega": 5, "pi": 6]

    static func allForms() throws -> String {
        let nested: [String: QueryValue] = [
            "outer": .object(dictionary.mapValues(QueryValue.int)), "a": 1, "c": .object(["y": 1, "x": 2]), "b": 2,
        ]
        let json = try HTTPBody.json(["d": dictionary, "e": dictionary]).encoded(with: BodyCoding())
        return try [
            QueryParameters(dictionary.mapValues(QueryValue.int)).encoded(.query),
            QueryParameters(nested).encoded(.form),
            QueryParameters(encoding: ["d": dictionary]).encoded(.query),
            QueryParameters(untyped: ["d": dictionary, "a": 1]).encoded(.query),
            String(decoding: json.bytes ?? Data(), as: UTF8.self),
        ].joined(separator: "\n")
    }

    @Test("Q06 dictionaries give the same bytes in every process, sorted at every level")
    func sameBytes() async throws {
        let first = try await Self.inOwnProcess()
        let second = try await Self.inOwnProcess()
        #expect(first == second)
        #expect(first.contains("alpha=2&beta=4&mid=3&omega=5&pi=6&zeta=1"))
        #expect(try first.contains(Self.allForms()))
    }

    private static func inOwnProcess() async throws -> String {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            print(try QueryEncodingTests.allForms())
        }
        return String(decoding: result.standardOutputContent, as: UTF8.self)
    }

    @Test("Q06 an ordered list keeps the caller's order")
    func callersOrder() {
        #expect(QueryParameters([("page", 1), ("ajax", true)]).encoded(.query) == "page=1&ajax=true")
    }
}
