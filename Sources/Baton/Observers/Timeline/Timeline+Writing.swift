public import Foundation

extension Timeline {
    /// Writes the timeline to a file, in the form that the name's ending says: `html`, `svg`, `txt`, `har`, or `json`
    /// for a trace. A file that is there is replaced.
    ///
    /// - Throws: `BatonError` with the code `unsupported` for another ending; or what writing the file throws.
    public func write(to file: URL) throws {
        let data: Data
        switch file.pathExtension.lowercased() {
        case "html", "htm": data = Data(html().utf8)
        case "svg": data = Data(svg().utf8)
        case "txt": data = Data((text() + "\n").utf8)
        case "har": data = har()
        case "json": data = chromeTrace()
        case let ending:
            throw BatonError(
                .unsupported,
                "a timeline cannot be written as \"\(ending)\": end the file's name with html, svg, txt, har or json")
        }
        try data.write(to: file, options: .atomic)
    }
}
