import Testing

@testable import Baton

/// One thing that every transport must do, against a server of its own.
///
/// A transport's tests run the whole list, each case with a new transport:
/// ```swift
/// @Test(arguments: TransportCase.all) func keepsTheContract(_ item: TransportCase) async throws { … }
/// ```
struct TransportCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (any Transport) async throws -> Void

    init(_ sentence: String, _ run: @escaping @Sendable (any Transport) async throws -> Void) {
        testDescription = sentence
        self.run = run
    }

    static let all = messages + bodies + failures + cancels
}
