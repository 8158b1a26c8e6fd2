import PlugProtocol
import PowerHistory

/// The history as its recorder sees it. Each call may take as long as the disk does.
protocol WritableHistory: Sendable {
    func record(_ batch: HistoryBatch) throws
    func missing(of plug: PlugID, boot: BootID, through now: Int64) throws -> [ClosedRange<Int64>]
    func forgetOld(now: Int64) throws
}

extension PowerHistory: WritableHistory {}
