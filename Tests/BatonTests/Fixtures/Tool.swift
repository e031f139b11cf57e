import Foundation

/// A program that a test needs and a system may lack. A test that is left out for want of one says so as `needs <name>…`,
/// by which `.ci/run` knows whether it had to be.
enum Tool {
    /// Where the program is, by the search path.
    static func find(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").lazy.map { URL(fileURLWithPath: "\($0)/\(name)") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }

    /// Starts a program whose output is read.
    static func start(
        _ program: URL?, _ arguments: [String], input: Any = FileHandle.nullDevice
    ) throws -> (Process, output: FileHandle) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// Ends a program at once. A request to terminate would not: on Linux children begin with that signal blocked.
    static func end(_ process: Process) {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
