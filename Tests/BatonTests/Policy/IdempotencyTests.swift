import Baton
import Testing

@Suite("Idempotency")
struct IdempotencyTests {
    @Test(
        "By method, what RFC 9110 calls idempotent may be sent again, and what carries a key",
        arguments: [
            (HTTPMethod.get, true), (.head, true), (.options, true), (.trace, true), (.put, true), (.delete, true),
            (.post, false), (.patch, false), ("PURGE", false),
        ])
    func byMethod(method: HTTPMethod, isCovered: Bool) {
        #expect(Idempotency.byMethod.covers(makeRequest(method)) == isCovered)
        #expect(Idempotency.byMethod.covers(makeRequest(method, fields: ["idempotency-key": "7"])))
        #expect(Idempotency.marked.covers(makeRequest(method)))
        #expect(Idempotency.keyed().covers(makeRequest(method)))
    }

    @Test("A key is made up only where one is wanted and none is there")
    func lazily() {
        func stamped(_ idempotency: Idempotency, _ fields: HTTPFields = [:]) -> (key: String?, draws: Int) {
            var request = makeRequest(.post, fields: fields)
            var draws = 0
            idempotency.stamp(&request, number: { 5 }) {
                draws += 1
                return UInt64(draws)
            }
            return (request.fields[.idempotencyKey], draws)
        }
        #expect(stamped(.byMethod) == (nil, 0))
        #expect(stamped(.marked) == (nil, 0))
        #expect(stamped(.keyed("mine")) == ("mine", 0))
        #expect(stamped(.keyed(), ["Idempotency-Key": "theirs"]) == ("theirs", 0))
        #expect(stamped(.keyed()) == ("000000000000000500000000000000010000000000000002", 2))
    }

    @Test("Keys are 48 hexadecimal digits and do not repeat, in a process or between two")
    func unique() {
        var keys: Set<String> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            for number in 0..<200 as Range<UInt64> {
                let key = Idempotency.makeKey(number: number) { random.next() }
                #expect(key.count == 48 && key.allSatisfy(\.isHexDigit))
                keys.insert(key)
            }
        }
        #expect(keys.count == 4_000)
    }
}
