public import Foundation

/// How far one body is, on its way to the server or from it.
///
/// Within an attempt the bytes never fall; with another attempt they may, and its number is another one.
public struct TransferProgress: Sendable, Hashable {
    package enum Direction: Sendable { case upload, download }

    /// Bytes that have moved. Of a download that was resumed, what was there before counts too. Those of a compressed
    /// response are counted as they are after decompression.
    public let bytes: Int64
    /// Bytes in all; nil where that is not announced, or where the response is compressed.
    public let total: Int64?
    /// Bytes a second lately; nil while there is too little to tell.
    public let bytesPerSecond: Double?
    /// 1 for the first attempt of the request.
    public let attempt: Int

    package init(bytes: Int64, total: Int64?, bytesPerSecond: Double? = nil, attempt: Int = 1) {
        self.bytes = bytes
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.attempt = attempt
    }

    /// The share that has moved, 0 to 1; nil where the total is not known, 1 where it is 0.
    public var fraction: Double? {
        total.map { $0 == 0 ? 1 : min(1, Double(bytes) / Double($0)) }
    }

    /// The same as Foundation's `Progress`: a snapshot, indeterminate where the total is not known.
    public var foundation: Progress {
        let progress = Progress(totalUnitCount: total ?? -1)
        progress.completedUnitCount = bytes
        return progress
    }
}

/// Measures the bodies of a run that move in one direction, one exchange after the other.
package struct TransferMeter: Sendable {
    /// Tells one exchange from the next.
    package struct Exchange: Sendable, Hashable {
        package var call: ObjectIdentifier
        package var token: UInt64

        package init(call: ObjectIdentifier, token: UInt64) {
            self.call = call
            self.token = token
        }
    }

    private var exchange: Exchange?
    private var bytes: Int64 = 0
    private var rate: Double?
    /// Where the rate is measured from.
    private var mark = Instant(nanoseconds: 0)
    private var markBytes: Int64 = 0

    package init() {}

    /// Takes a count; nil when it says nothing new.
    package mutating func note(
        _ count: Int64, of total: Int64?, attempt: Int, exchange: Exchange, at now: Instant
    ) -> TransferProgress? {
        if self.exchange == exchange {
            guard count > bytes else { return nil }
        } else {
            self = TransferMeter()
            self.exchange = exchange
            (mark, markBytes) = (now, count)
        }
        bytes = count
        let elapsed = mark.duration(to: now).inSeconds
        if elapsed >= 0.5 {
            rate = Double(count - markBytes) / elapsed
            if elapsed >= 2 { (mark, markBytes) = (now, count) }
        }
        let known = total.flatMap { $0 >= count ? $0 : nil }
        return TransferProgress(bytes: count, total: known, bytesPerSecond: rate, attempt: attempt)
    }
}
