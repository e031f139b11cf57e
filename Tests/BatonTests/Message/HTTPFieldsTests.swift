import Baton
import Testing

@Suite("Header fields")
struct HTTPFieldsTests {
    @Test("H10 a later writer replaces a field whatever its case, and one line is left")
    func laterWriterWins() {
        var fields: HTTPFields = ["authorization": "A", "Accept": "text/plain"]
        fields["Authorization"] = "B"
        #expect(fields.values(for: "AUTHORIZATION") == ["B"])
        fields.merge(["aUTHORIZATION": "C"])
        #expect(fields.values(for: .authorization) == ["C"])
        #expect(fields.count == 2)
    }

    @Test(
        "H10 a field is found under its canonical name however the server wrote it",
        arguments: [
            ("retry-after", HTTPFieldName.retryAfter), ("content-type", .contentType), ("LOCATION", .location),
            ("set-cookie", .setCookie),
        ])
    func canonicalLookup(raw: String, name: HTTPFieldName) {
        let fields: HTTPFields = [HTTPFieldName(raw): "v"]
        #expect(fields[name] == "v")
        #expect(fields.contains(name))
    }

    @Test("Fields keep their order and repeats; setting keeps the place of the first")
    func orderAndRepeats() {
        var fields: HTTPFields = ["a": "1", "b": "2", "A": "3"]
        #expect(fields.values(for: "a") == ["1", "3"])
        fields["a"] = "4"
        #expect(fields.map(\.value) == ["4", "2"])
        fields["a"] = nil
        #expect(fields.map(\.name) == ["b"])
    }

    @Test(
        "H12 what would inject a field is found before anything is sent, and the field is named",
        arguments: [
            ("X-A", "v\r\nX-Evil: 1"), ("X-A", "v\nX-Evil: 1"), ("X-A", "a\u{0}b"), ("X Y", "v"), ("", "v"),
            ("X:Y", "v"), ("Ü", "v"),
        ])
    func injection(name: String, value: String) {
        let fields: HTTPFields = ["Accept": "*/*", HTTPFieldName(name): value]
        #expect(fields.firstInvalid?.name == name)
        #expect(fields.firstInvalid?.reason.contains("Evil") == false)
    }

    @Test("H12 text that injects nothing is fine", arguments: ["", "a\tb", "é😀", "a, b; c=\"d\""])
    func harmless(value: String) {
        #expect(HTTPFields([.init(name: "X-A", value: value)]).firstInvalid == nil)
    }
}
