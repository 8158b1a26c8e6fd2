import Metering
import PlugModel
import PowerHistory

/// The history as its recorder sees it. Each call may take as long as the disk does.
protocol WritableHistory: Sendable {
    func record(_ batch: HistoryBatch) throws
    func missing(of plug: PlugID, boot: BootID, through now: Int64) throws -> [ClosedRange<Int64>]
    func forgetOld(now: Int64) throws
    /// Samples with the wall clock's milliseconds, in order, no more than these.
    func samples(
        of plug: PlugID, from: Int64, to: Int64, atMost limit: Int,
        _ body: (_ milliseconds: Int64, _ sample: Sample) -> Void
    ) throws(HistoryError) -> [ClosedRange<Int64>]
}

extension PowerHistory: WritableHistory {}
