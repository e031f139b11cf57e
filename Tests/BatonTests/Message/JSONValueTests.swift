import Baton
import Foundation
import Testing

@Suite("JSON trees")
struct JSONValueTests {
    @Test(
        "JSON is read as the values it holds",
        arguments: [
            ("null", nil), (" true ", true), ("-0", 0), ("1", 1), ("1.0", .double(1)), ("1e2", .double(100)),
            ("-1.5E-2", -0.015), ("9223372036854775807", .int(.max)),
            ("9223372036854775808", .double(9_223_372_036_854_775_808)),
            ("\"\"", ""), (#""a\"\\\/\b\f\n\r\té""#, "a\"\\/\u{8}\u{C}\n\r\té"), (#""😀\u0000""#, "😀\u{0}"),
            ("\"é😀\"", "é😀"),
            ("[]", []), ("[ 1 , [\n] , {} ]", [1, [], [:]]),
            (#"{"a":{"b":[true,null]},"c":"d"}"#, ["a": ["b": [true, nil]], "c": "d"]),
            (#"{"a":1,"a":2}"#, ["a": 2]), ("\u{FEFF}1", 1),
        ] as [(String, JSONValue)])
    func parsed(text: String, value: JSONValue) throws {
        #expect(try JSONValue(data: Data(text.utf8)) == value)
    }

    @Test(
        "What is no JSON is a decoding error that says where",
        arguments: [
            "", " ", "nul", "nulll", "tru", "+1", "01", "-", "1.", ".5", "1e", "1e999", "0x1", "NaN", "[1,]", "[1 2]",
            "[", "{",
            "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"", "\"\n\"", "'a'", "1 1", "// c\n1", "[1]]",
        ])
    func refused(text: String) {
        #expect {
            try JSONValue(data: Data(text.utf8))
        } throws: { error in
            guard case .dataCorrupted(let context)? = error as? DecodingError else { return false }
            return context.debugDescription.hasPrefix("Not JSON at byte ")
        }
    }

    @Test(
        "Text that is no UTF-8 is refused",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: DecodingError.self) { try JSONValue(data: Data(bytes)) }
    }

    @Test("Deep nesting is read up to a limit and refused beyond it, also on a small stack")
    func nesting() async throws {
        func text(_ depth: Int) -> Data {
            Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        let deep = text(512)
        let isRead = await withCheckedContinuation { continuation in
            let thread = Thread {
                let value = try? JSONValue(data: deep)
                continuation.resume(returning: value?.data == deep && value == value)
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }
        #expect(isRead)
        #expect(throws: DecodingError.self) { try JSONValue(data: text(513)) }
        #expect(throws: DecodingError.self) {
            try JSONValue(data: Data(String(repeating: "[{\"a\":", count: 100_000).utf8))
        }
    }

    static let sample: JSONValue = [
        "z": nil, "a": ["q\"\u{1}\u{1F}\\\n": 1.5, "b": [true, -3, "é", 1e21]], "m": .int(.min), "e": [:], "l": [],
    ]

    @Test("A tree is written compactly with sorted keys, and reads back as itself")
    func written() throws {
        #expect(
            Self.sample.description
                == #"{"a":{"b":[true,-3,"é",1e+21],"q\"\u0001\u001f\\\n":1.5},"e":{},"l":[],"m":-9223372036854775808,"z":null}"#
        )
        #expect(try JSONValue(data: Self.sample.data) == Self.sample)
        #expect(JSONValue.double(.nan).description == "null")
    }

    @Test("A tree goes through any encoder and decoder")
    func codable() throws {
        let bytes = try JSONEncoder().encode(Self.sample)
        #expect(try JSONDecoder().decode(JSONValue.self, from: bytes) == Self.sample)
        let body = try HTTPBody.json(Self.sample).encoded(with: BodyCoding())
        #expect(try JSONValue(data: try #require(body.bytes)) == Self.sample)
    }

    @Test("Values are reached by key, index and path")
    func access() {
        let value: JSONValue = [
            "data": ["items": [["id": 7], ["id": 7.5]], "a.b": "dotted", "none": nil], "on": true,
        ]
        #expect(value["data"]["items"][0]["id"].int == 7)
        #expect(value["data"]["items"][1]["id"].int == nil)
        #expect(value["data"]["items"][1]["id"].double == 7.5)
        #expect(value["data"]["items"][2]["id"].isNull)
        #expect(value["on"].bool == true)
        #expect(value.value(at: "data.items.1.id") == 7.5)
        #expect(value.value(at: "data.a.b")?.string == "dotted")
        #expect(value.value(at: "data.none") == .null)
        #expect(value.value(at: "data.missing") == Optional.none)
        #expect(value.value(at: "data.items.-1") == Optional.none)
        #expect(value.value(at: "") == value)
        #expect(value["data"].object?.count == 3)
        #expect(value["data"]["items"].array?.count == 2)
    }

    @Test("Q04 nil and null of any type are null in JSON, and Booleans stay Booleans")
    func untyped() throws {
        let body = try HTTPBody.json(untyped: QueryEncodingTests.loose)
        #expect(body.contentType == "application/json")
        let text = String(decoding: try #require(body.bytes), as: UTF8.self)
        #expect(
            text == #"{"b":true,"big":1.8446744073709552e+19,"d":1.5,"dec":0.1,"deep":{"k":[2]},"f":0.1,"i":1,"#
                + #""list":[1,"x",null,true],"n":null,"nb":true,"nd":0.5,"ni":1,"ns":"text","nsa":[false,"y"],"o":"xxx","oo":3,"#
                + #""u":"https://h/?a=b","z":null}"#)
        #expect(throws: EncodingError.self) { try JSONValue(untyped: ["a": { 1 }]) }
    }
}
