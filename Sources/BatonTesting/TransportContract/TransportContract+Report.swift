extension TransportContract {
    /// What came of a run of the contract.
    public struct Report: Sendable, CustomStringConvertible {
        /// A check that the transport did not pass.
        public struct Failure: Sendable {
            /// The name of the check: what a transport must do.
            public let check: String
            /// What it did, each a sentence.
            public let problems: [String]
        }

        /// A check that was not made.
        public struct Skip: Sendable {
            /// The name of the check.
            public let check: String
            /// Why not.
            public let reason: String
        }

        /// The checks that it did not pass; empty is right.
        public internal(set) var failures: [Failure] = []
        /// The checks that were not made, with the reasons.
        public internal(set) var skipped: [Skip] = []
        /// The names of the checks that it passed.
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
