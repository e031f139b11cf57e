extension TransportContract {
    /// What came of a run of this contract, or of a store's.
    public struct Report: Sendable, CustomStringConvertible {
        /// A check that was not passed.
        public struct Failure: Sendable {
            /// The name of the check: what must be done.
            public let check: String
            /// What was done instead, each a sentence.
            public let problems: [String]
        }

        /// A check that was not made.
        public struct Skip: Sendable {
            /// The name of the check.
            public let check: String
            /// Why not.
            public let reason: String
        }

        /// The checks that were not passed; empty is right.
        public internal(set) var failures: [Failure] = []
        /// The checks that were not made, with the reasons.
        public internal(set) var skipped: [Skip] = []
        /// The names of the checks that were passed.
        public internal(set) var passed: [String] = []

        public var description: String {
            var lines = ["\(passed.count) checks passed, \(failures.count) failed, \(skipped.count) were skipped"]
            for failure in failures {
                lines.append("✘ \(failure.check)")
                lines += failure.problems.map { "    \($0)" }
            }
            for skip in skipped { lines.append("- \(skip.check) (\(skip.reason))") }
            return lines.joined(separator: "\n")
        }
    }
}
