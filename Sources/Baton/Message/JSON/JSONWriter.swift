/// Writes compact JSON with sorted keys. What is still to be written is kept in a stack of its own, so that nesting
/// does not eat up the thread's.
struct JSONWriter {
    private enum Step {
        case value(JSONValue)
        case key(String)
        case byte(UInt8)
    }

    private(set) var bytes: [UInt8] = []
    private var steps: [Step] = []

    mutating func write(_ value: JSONValue) {
        steps.append(.value(value))
        while let step = steps.popLast() {
            switch step {
            case .value(let value): begin(value)
            case .byte(let byte): bytes.append(byte)
            case .key(let key):
                write(key)
                bytes.append(UInt8(ascii: ":"))
            }
        }
    }

    private mutating func begin(_ value: JSONValue) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .int(let value): bytes += String(value).utf8
        case .double(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .string(let value): write(value)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            steps.append(.byte(UInt8(ascii: "]")))
            for (index, value) in values.enumerated().reversed() {
                steps.append(.value(value))
                if index > 0 { steps.append(.byte(UInt8(ascii: ","))) }
            }
        case .object(let values):
            bytes.append(UInt8(ascii: "{"))
            steps.append(.byte(UInt8(ascii: "}")))
            for (index, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated().reversed() {
                steps.append(.value(value))
                steps.append(.key(key))
                if index > 0 { steps.append(.byte(UInt8(ascii: ","))) }
            }
        }
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20:
                bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
                bytes += String(byte, radix: 16).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
