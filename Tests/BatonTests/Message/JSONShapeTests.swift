import Baton
import Testing

@Suite("Shapes of JSON")
struct JSONShapeTests {
    static let shape: JSONShape = .object([
        "id": .integer, "name": .string, "tags": .array(.string), "note": .optional(.string),
        "owner": .object(["ratio": .number, "on": .bool]),
        "extra": .optional(.dictionary(.either([.integer, .string]))),
    ])
    static let good: JSONValue = [
        "id": 1.0, "name": "n", "tags": ["a"], "owner": ["ratio": 1, "on": false], "extra": ["k": 1, "l": "m"],
        "more": 1,
    ]

    @Test(
        "A value that fits has no violations",
        arguments: [
            (shape, good), (.any, nil), (.null, nil), (.optional(.string), nil), (.array(.any), []),
            (.dictionary(.bool), [:]),
        ] as [(JSONShape, JSONValue)])
    func fits(shape: JSONShape, value: JSONValue) {
        #expect(shape.check(value).isEmpty)
    }

    @Test(
        "A value that does not fit is told by place, expectation and finding",
        arguments: [
            ("id", 1.5, ["$.id is a number where an integer is expected"]),
            ("id", "1", ["$.id is text where an integer is expected"]),
            ("name", nil, ["$.name is null where text is expected"]),
            (
                "tags", ["a", 1, "b", nil],
                ["$.tags[1] is an integer where text is expected", "$.tags[3] is null where text is expected"]
            ),
            ("note", 3, ["$.note is an integer where text is expected"]),
            (
                "owner", ["ratio": true],
                ["$.owner.on is missing", "$.owner.ratio is a Boolean where a number is expected"]
            ),
            ("extra", ["k": [:]], ["$.extra.k is an object where an integer or text is expected"]),
        ] as [(String, JSONValue, [String])])
    func violations(key: String, value: JSONValue, expected: [String]) throws {
        var object = try #require(Self.good.object)
        object[key] = value
        #expect(Self.shape.check(.object(object)).map(\.description) == expected)
    }

    @Test("A missing key is told, and the number of violations is limited")
    func missingAndLimit() {
        #expect(Self.shape.check([:]).map(\.path) == ["$.id", "$.name", "$.owner", "$.tags"])
        #expect(Self.shape.check([]).map(\.description) == ["$ is an array where an object is expected"])
        #expect(JSONShape.array(.string).check(.array(Array(repeating: 1, count: 1000))).count == 20)
        #expect(JSONShape.array(.string).check(.array(Array(repeating: 1, count: 1000)), limit: 3).count == 3)
    }
}
