public import Foundation

/// How far a run is.
public struct RunProgress: Sendable, Hashable {
    /// The counts of the batch that is under way; nil outside batches. Of nested batches, the outermost counts.
    public var batch: BatchProgress?
    /// The latest request body that moved; nil before one did, and while a batch is under way.
    public var upload: TransferProgress?
    /// The latest response body that moved; nil before one did, and while a batch is under way.
    public var download: TransferProgress?

    package init(batch: BatchProgress? = nil) {
        self.batch = batch
    }

    /// The share that is done, 0 to 1: of the batch, or else of what is received, or else of what is sent; nil when it
    /// is not known.
    public var fraction: Double? { batch?.fraction ?? download?.fraction ?? upload?.fraction }

    /// The same as Foundation's `Progress`: a snapshot, indeterminate where the total is not known.
    public var foundation: Progress {
        batch?.foundation ?? download?.foundation ?? upload?.foundation ?? Progress(totalUnitCount: -1)
    }
}
