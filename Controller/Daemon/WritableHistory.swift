import Metering
import PlugModel
import PowerHistory

/// The access of the recorder to the history. A call blocks while the disk is slow.
protocol WritableHistory: Sendable {
    /// Stores a batch in one transaction.
    func record(_ batch: HistoryBatch) throws
    /// Returns the missing ranges of a boot up to `now`, in milliseconds of the plug's clock.
    func missing(of plug: PlugID, boot: BootID, through now: Int64) throws -> [ClosedRange<Int64>]
    /// Deletes a part of the expired data. `now` is in milliseconds since 1970.
    func forgetOld(now: Int64) throws
    /// Calls `body` for stored samples in order, with milliseconds of the wall clock, at most `limit` times. Returns
    /// the ranges of damaged data, in the same unit; empty if there are more than `limit` samples.
    func samples(
        of plug: PlugID, from: Int64, to: Int64, atMost limit: Int,
        _ body: (_ milliseconds: Int64, _ sample: Sample) -> Void
    ) throws(HistoryError) -> [ClosedRange<Int64>]
}

extension PowerHistory: WritableHistory {}
