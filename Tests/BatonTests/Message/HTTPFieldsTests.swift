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

    @Test(
        "A client's fields under a request's are like one list of lines, whatever is done to them", arguments: 0..<200)
    func overDefaults(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let names: [HTTPFieldName] = ["A", "a", "B", "C", "c", "D"]
        func line() -> HTTPFields.Line {
            HTTPFields.Line(name: names[random.below(names.count)], value: "\(random.below(4))")
        }
        func fields() -> HTTPFields { HTTPFields((0..<random.below(5)).map { _ in line() }) }
        var (own, defaults) = (fields(), fields())
        var layered = own.over(defaults)
        // The same without sharing anything.
        var plain = own.isEmpty ? Array(defaults) : defaults.filter { !own.contains($0.name) } + Array(own)
        for _ in 0..<12 {
            #expect(Array(layered) == plain)
            #expect(layered == HTTPFields(plain) && layered.hashValue == HTTPFields(plain).hashValue)
            #expect(layered.count == plain.count && layered.indices.map { layered[$0] } == plain)
            for name in names {
                let values = plain.filter { $0.name == name }.map(\.value)
                #expect(layered[name] == values.first && layered.contains(name) == !values.isEmpty)
                #expect(layered.values(for: name) == values)
            }
            let change = line()
            switch random.below(6) {
            case 0:
                layered[change.name] = nil
                plain.removeAll { $0.name == change.name }
            case 1, 2:
                layered[change.name] = change.value
                if let first = plain.firstIndex(where: { $0.name == change.name }) {
                    plain[first] = change
                    plain = Array(plain[...first]) + plain[(first + 1)...].filter { $0.name != change.name }
                } else {
                    plain.append(change)
                }
            case 3:
                layered.append(change.value, for: change.name)
                plain.append(change)
            case 4:
                let other = fields()
                layered.merge(other)
                plain = plain.filter { !other.contains($0.name) } + Array(other)
            default:
                (own, defaults) = (layered, fields())
                layered = own.over(defaults)
                plain = own.isEmpty ? Array(defaults) : defaults.filter { !own.contains($0.name) } + Array(own)
            }
        }
    }

    @Test(
        "A line that may not be sent is found among a client's fields and a request's, unless it was looked at before")
    func invalidBelow() {
        let bad: HTTPFields = ["X-A": "a\nb"]
        let fine: HTTPFields = ["X-B": "b"]
        #expect(fine.over(bad).firstInvalid?.name == "X-A" && bad.over(fine).firstInvalid?.name == "X-A")
        var changed = fine.over(bad)
        #expect(changed.firstInvalid(beyond: fine.over(bad)) == nil)
        changed["X-C"] = "c\rd"
        #expect(changed.firstInvalid(beyond: fine.over(bad))?.name == "X-C")
        // Beside other defaults, all are looked at.
        #expect(fine.over(bad).firstInvalid(beyond: fine.over(["X-A": "a"]))?.name == "X-A")
    }

    @Test("More default fields than there are bits for are fields like others")
    func manyDefaults() {
        let defaults = HTTPFields((0..<100).map { HTTPFields.Line(name: HTTPFieldName("N\($0)"), value: "d") })
        let own: HTTPFields = ["n7": "own", "Z": "own"]
        let fields = own.over(defaults)
        #expect(fields.count == 101 && fields["N7"] == "own" && fields["N99"] == "d" && fields.last?.name == "Z")
    }
}
