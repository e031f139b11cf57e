import Baton

/// What the command line asks for.
struct ToolOptions {
    enum Command {
        case request(HTTPMethod, url: String)
        case chain(file: String)
    }

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    var command: Command
    var body: String?
    var showsPlan = false
    var showsTimeline = false
    var isDemo = false
    var showsHelp = false

    static let usage = """
        Usage: http [METHOD] URL [--body JSON]     sends one request
               http FILE.json                      runs the chain that the file describes

          --plan        prints what would be done, and sends nothing
          --timeline    prints afterwards what was done, on standard error
          --demo        starts a small service for the chain to talk to
          --help        this text
        """

    init(_ arguments: [String]) throws(Mistake) {
        var words: [String] = []
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--plan": showsPlan = true
            case "--timeline": showsTimeline = true
            case "--demo": isDemo = true
            case "--help", "-h": showsHelp = true
            case "--body":
                guard let value = rest.next() else { throw Mistake(description: "--body needs a value") }
                body = value
            case _ where argument.hasPrefix("-"):
                throw Mistake(description: "unknown option \(argument); --help lists them")
            default: words.append(argument)
            }
        }
        switch words.count {
        case 1 where words[0].hasSuffix(".json") && !words[0].contains("://"): command = .chain(file: words[0])
        case 1: command = .request(body == nil ? .get : .post, url: words[0])
        case 2: command = .request(HTTPMethod(rawValue: words[0].uppercased()), url: words[1])
        case 0 where showsHelp: command = .chain(file: "")
        default: throw Mistake(description: "give it a URL, a method and a URL, or a file; --help says more")
        }
    }
}
