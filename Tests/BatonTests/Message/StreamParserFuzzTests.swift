import Foundation
import Testing

@testable import Baton

@Suite("Parsers of streams under mutated input, however it is cut")
struct StreamParserFuzzTests {
    private static let inputs = Scale.count(40_000, everyday: 4_000)
    /// So short that some lines are longer.
    private static let maxLength = 40

    /// What a parser makes of the pieces: its elements, or the codes of the error that ended it.
    private static func outcome<Parser: StreamParser>(
        _ parser: Parser, _ pieces: [Data]
    ) -> Result<[Parser.Element], BatonError> {
        var parser = parser
        var elements: [Parser.Element] = []
        do throws(BatonError) {
            for piece in pieces { elements += try parser.parse(piece) }
            return .success(elements + (try parser.finish()))
        } catch {
            return .failure(error)
        }
    }

    /// Feeds the same bytes whole and in pieces.
    private static func compare<Parser: StreamParser>(
        _ parser: Parser, seeds: [String], codes: Set<BatonError.Code>, seed: UInt64
    ) where Parser.Element: Equatable {
        var mutations = Mutations(of: seeds, seed: seed)
        for _ in 0..<inputs / 4 {
            let bytes = mutations.next()
            let pieces = mutations.pieces(of: bytes)
            let isSame =
                switch (outcome(parser, [Data(bytes)]), outcome(parser, pieces)) {
                case (.success(let whole), .success(let cut)): whole == cut
                case (.failure(let whole), .failure(let cut)): codes.isSuperset(of: [whole.code, cut.code])
                default: false
                }
            if !isSame {
                Issue.record("cut up, it is something else: seed \(seed), pieces \(pieces.map(Array.init))")
                return
            }
        }
    }

    @Test("Lines", arguments: [1, 2, 3, 4] as [UInt64])
    func lines(seed: UInt64) {
        Self.compare(
            LinesParser(maxLength: Self.maxLength),
            seeds: [
                "a\r\nb\rc\n\né😀ü\r\r\nlast", "\n\n\r\n\r", "a line that is longer than the limit of this parser is\n",
                "",
            ],
            codes: [.responseTooLarge], seed: seed)
    }

    @Test("JSON in lines", arguments: [1, 2, 3, 4] as [UInt64])
    func jsonLines(seed: UInt64) {
        struct Line: Decodable, Equatable, Sendable {
            let n: Int
            let a: [String]?
        }
        Self.compare(
            JSONLinesParser(Line.self, maxLength: Self.maxLength, coding: BodyCoding()),
            seeds: [
                "{\"n\":1}\n\n{\"n\":2,\"a\":[\"é😀\"]}\r\n \t\r{\"n\":3}", "{\"n\":1e2}\n",
                "{\"n\":9223372036854775808}\n",
                "{\"n\":4,\"a\":[\"\\ud83d\\ude00\", \"longer than allowed\"]}\n",
            ],
            codes: [.responseTooLarge, .decodingFailed], seed: seed)
    }

    @Test("Events", arguments: [1, 2, 3, 4] as [UInt64])
    func events(seed: UInt64) {
        Self.compare(
            EventParser(maxLength: Self.maxLength, reconnecting: .always),
            seeds: [
                "\u{FEFF}data: a\n\ndata: b\r\n\r\n", ": note\nid: 7\nevent: add\ndata: 1\ndata: 2\n\n",
                "retry: 99999999999999999999\rdata\r\rid: b\u{0}c\rdata: d\r\r", "data: one\ndata: two\ndata: three\n",
                "data: a line that is longer than the limit is\n\n", "nonsense\n\nDATA: é😀\n\n",
            ],
            codes: [.responseTooLarge], seed: seed)
    }
}
