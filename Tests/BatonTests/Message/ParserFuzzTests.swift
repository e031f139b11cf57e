import Baton
import Foundation
import Testing

/// SplitMix64: small, and the same everywhere for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Texts with a few bytes changed, added, left out, or taken from one another.
struct Mutations {
    private let seeds: [[UInt8]]
    var generator: SeededGenerator

    init(of seeds: [String], seed: UInt64) {
        self.init(of: seeds.map { Array($0.utf8) }, seed: seed)
    }

    init(of seeds: [[UInt8]], seed: UInt64) {
        self.seeds = seeds
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var bytes = seeds.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2 where place < bytes.count: bytes.remove(at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 5))
            default:
                let other = seeds.randomElement(using: &generator) ?? []
                let start = Int.random(in: 0...other.count, using: &generator)
                bytes.insert(contentsOf: other[start..<min(other.count, start + 8)], at: place)
            }
        }
        return bytes
    }

    /// The bytes cut at random places, with empty pieces among them.
    mutating func pieces(of bytes: [UInt8]) -> [Data] {
        var pieces: [Data] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...min(rest.count, 9), using: &generator)
            pieces.append(Data(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}

@Suite("Parsers under mutated input")
struct ParserFuzzTests {
    private static let seeds = [
        "https://user@[2001:db8::1%25x]:8080/a%2/b?c=%zz&d#e", "https://bücher.example:443/p/../q?x=y",
        "http://1.2.3.4:99999/",
        "2026-05-25T22:46:27.580497123+02:00", "0000-00-00T00:00:00Z", "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "99999999999999999999", "-1.5", "\t 7",
        #"{"a":[1,2.5e-3,"é\ud83d\ude00\n",{"b":null,"c":[true,false,[]]}],"d":-0}"#, #"[[[[[["\u0000"]]]]]]"#,
        "text/plain; charset=\"utf-16le\"", "\u{FEFF}a=b+c&%C3%A9=%F0%9F%98%80&&=&x", "\u{0}\r\n\u{7F}é😀\u{301}",
    ]

    private static let inputs = Scale.count(100_000, everyday: 10_000)

    @Test(
        "Whatever the parsers are fed ends in a value or an error, and what they write they read back",
        arguments: [1, 2, 3, 4] as [UInt64])
    func fuzz(seed: UInt64) {
        var mutations = Mutations(of: Self.seeds, seed: seed)
        for _ in 0..<Self.inputs / 4 {
            let bytes = mutations.next()
            if let failure = Self.failure(bytes) {
                Issue.record("\(failure), seed \(seed), input \(bytes)")
                return
            }
        }
    }

    /// What does not hold for that input; nil when all does.
    private static func failure(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let data = Data(bytes)
        if let (origin, target) = try? HTTPOrigin.split(text) {
            guard let again = try? HTTPOrigin.split("\(origin)\(target)"), again.0 == origin, again.target == target
            else {
                return "a URL that was written is not read back"
            }
            guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return "a target is no ASCII" }
        }
        if let origin = try? HTTPOrigin(base: "https://h/p?q"), let target = try? origin.target(path: text) {
            guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), target.hasPrefix("/p") else {
                return "a path leaves its base or is no ASCII"
            }
        }
        if let date = ISO8601.parse(text), let again = ISO8601.parse(ISO8601.format(date)) {
            guard abs(again.timeIntervalSince(date)) <= 0.001 else { return "a date that was written is not read back" }
        }
        let now = HTTPDate.parse(text) ?? Date(timeIntervalSince1970: 0)
        if let seconds = RetryAfter.parse(text, responseDate: now), seconds < 0 { return "a wait is negative" }
        if let value = try? JSONValue(data: data) {
            guard let again = try? JSONValue(data: value.data), again.data == value.data else {
                return "JSON that was written is not read back"
            }
            _ = value.value(at: text)
            _ = JSONShape.array(.object(["a": .integer])).check(value)
        }
        _ = HTTPText.decode(body: data, contentType: nil)
        _ = HTTPText.decode(body: data, contentType: text)
        _ = PercentEncoding.decodePairs(text, from: .form)
        let encoded = QueryParameters([(text, .string(text))]).encoded(.form)
        guard let pair = PercentEncoding.decodePairs(encoded, from: .form)?.first, pair.name == text, pair.value == text
        else {
            return "a form that was written is not read back"
        }
        return nil
    }
}
