public import Foundation

extension BatchProgress {
    /// The same as Foundation's `Progress`: a snapshot, which does not change when the batch goes on. While the total is
    /// unknown it is indeterminate.
    public var foundation: Progress {
        let progress = Progress(totalUnitCount: total.map { Int64($0) } ?? -1)
        progress.completedUnitCount = Int64(completed)
        return progress
    }
}
