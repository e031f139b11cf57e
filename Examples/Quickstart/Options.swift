/// What the command line asks for.
struct Options {
    /// What carries the requests.
    enum Carrier: String, CaseIterable {
        case curl, urlsession, mock
    }

    /// The server to talk to; nil starts one inside the process.
    var baseURL: String?
    /// How many orders are fetched at once.
    var concurrency = 4
    /// nil leaves the choice to the client.
    var carrier: Carrier?
    /// Where the picture of what happened goes; nil draws none.
    var timeline: String?
    var showsHelp = false

    static let usage = """
        Usage: quickstart [--base-url URL] [--concurrency N] [--transport NAME] [--timeline FILE]

        Signs in to a small shop, reads a profile, and fetches its orders as a batch.

          --base-url URL      a server that has these paths; default: one inside this process
          --concurrency N     how many orders are fetched at once; default: 4
          --transport NAME    curl (Linux), urlsession, or mock (no network at all); default: the platform's
          --timeline FILE     a picture of what happened: .html, .svg, .txt, .har or .json
          --help              this text
        """

    /// A command line that makes no sense; it prints as one line.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var rest = arguments.makeIterator()
        while let option = rest.next() {
            switch option {
            case "--help", "-h": showsHelp = true
            case "--base-url": baseURL = try Self.value(of: option, rest.next())
            case "--concurrency": concurrency = try Self.count(of: option, rest.next())
            case "--timeline": timeline = try Self.value(of: option, rest.next())
            case "--transport": carrier = try Self.carrier(of: option, rest.next())
            default: throw Mistake(description: "unknown argument \(option); --help lists the options")
            }
        }
        if carrier == .mock, baseURL != nil {
            throw Mistake(description: "--transport mock talks to no server, so --base-url does not go with it")
        }
    }

    private static func value(of option: String, _ value: String?) throws(Mistake) -> String {
        guard let value, !value.isEmpty, !value.hasPrefix("--") else {
            throw Mistake(description: "\(option) needs a value; --help lists the options")
        }
        return value
    }

    private static func count(of option: String, _ value: String?) throws(Mistake) -> Int {
        let text = try Self.value(of: option, value)
        guard let count = Int(text), count >= 1 else {
            throw Mistake(description: "\(option) needs a whole number from 1 up, not \(text)")
        }
        return count
    }

    private static func carrier(of option: String, _ value: String?) throws(Mistake) -> Carrier {
        let text = try Self.value(of: option, value)
        guard let carrier = Carrier(rawValue: text) else {
            let names = Carrier.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(description: "\(option) needs one of \(names), not \(text)")
        }
        return carrier
    }
}
