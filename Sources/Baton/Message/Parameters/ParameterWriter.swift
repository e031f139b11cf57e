internal import Foundation

/// Writes parameters as `name=value&…`.
struct ParameterWriter {
    let style: ParameterStyle
    let place: PercentEncoding.Place
    private(set) var text = ""

    init(style: ParameterStyle, place: PercentEncoding.Place) {
        self.style = style
        self.place = place
    }

    mutating func write(_ value: QueryValue, name: String) {
        switch value {
        case .list(let values): write(list: values, name: name)
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                write(value, name: style.nesting == .dotted ? "\(name).\(key)" : "\(name)[\(key)]")
            }
        default:
            if let scalar = scalar(value) { append(name, scalar) }
        }
    }

    private mutating func write(list values: [QueryValue], name: String) {
        let arrays = values.allSatisfy(\.isScalar) ? style.arrays : .indexed
        switch arrays {
        case .brackets: for value in values { write(value, name: name + "[]") }
        case .repeated: for value in values { write(value, name: name) }
        case .indexed: for (index, value) in values.enumerated() { write(value, name: "\(name)[\(index)]") }
        case .commaSeparated:
            let scalars = values.compactMap(scalar)
            if !scalars.isEmpty { append(name, scalars.joined(separator: ",")) }
        }
    }

    private mutating func append(_ name: String, _ encodedValue: String) {
        if !text.isEmpty { text += "&" }
        text += PercentEncoding.encode(name, for: place)
        text += "="
        text += encodedValue
    }

    /// The value as text, percent-encoded; nil when nothing is to be sent.
    private func scalar(_ value: QueryValue) -> String? {
        switch value {
        case .string(let value): PercentEncoding.encode(value, for: place)
        case .int(let value): String(value)
        case .double(let value): PercentEncoding.encode(String(value), for: place)
        case .bool(let value): style.booleans == .words ? (value ? "true" : "false") : (value ? "1" : "0")
        case .date(let date): PercentEncoding.encode(style.dates.text(date), for: place)
        case .data(let data): PercentEncoding.encode(style.data.text(data), for: place)
        case .null: style.nils == .empty ? "" : nil
        case .list, .object: nil
        }
    }
}

extension QueryValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .list, .object: false
        default: true
        }
    }
}

extension DateCoding {
    /// A date as the text of a parameter.
    fileprivate func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        switch self {
        case .iso8601: return ISO8601.format(date)
        case .seconds: return Int64(exactly: seconds).map { String($0) } ?? String(seconds)
        case .milliseconds:
            let milliseconds = (seconds * 1000).rounded()
            return Int64(exactly: milliseconds).map { String($0) } ?? String(milliseconds)
        }
    }
}

extension ParameterStyle.DataFormat {
    fileprivate func text(_ data: Data) -> String {
        switch self {
        case .base64: return data.base64EncodedString()
        case .base64URL:
            return data.base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
        case .hex:
            return data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
