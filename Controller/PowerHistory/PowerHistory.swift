public import Metering
public import LocalCalendar
public import PlugProtocol

/// What the plugs of a house reported, for years: samples, what sums them up, energy and events, in one SQLite database.
public final class PowerHistory: Sendable {
    public enum Role: Hashable, Sendable {
        /// Has the directory for itself, as far as recording goes.
        case recorder
        /// Writes beside a recorder.
        case writer
        /// Changes nothing.
        case reader
    }

    public init(
        _ directory: String, role: Role, retention: HistoryRetention = .standard,
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HistoryError) {
        throw HistoryError(.absent, directory)
    }

    public static func defaultDirectory() -> String { fatalError() }
    public func record(_ batch: HistoryBatch) throws(HistoryError) {}
    public func missing(of plug: PlugID, boot: BootID, through now: Int64) throws(HistoryError) -> [ClosedRange<Int64>] {
        []
    }
    public func cursors() throws(HistoryError) -> [PlugID: SequenceNumber] { [:] }
    public func forgetOld(now: Int64) throws(HistoryError) {}
    public func plugs() throws(HistoryError) -> [HistoryPlug] { [] }
    public func plug(named name: String) throws(HistoryError) -> HistoryPlug { throw HistoryError(.absent, "") }
    @discardableResult
    public func samples(
        of plug: PlugID, from: Int64, to: Int64, _ body: (_ milliseconds: Int64, _ sample: Sample) -> Void
    ) throws(HistoryError) -> [ClosedRange<Int64>] { [] }
    public func summaries(
        of plug: PlugID, step: RollUpStep, from: Int64, to: Int64
    ) throws(HistoryError) -> [PowerSummary] { [] }
    /// Raw chunks, no roll-ups.
    public func summariesOfSamples(
        of plug: PlugID, step: RollUpStep, from: Int64, to: Int64
    ) throws(HistoryError) -> [PowerSummary] { [] }
    public func energy(of plug: PlugID, periods: [CalendarPeriod]) throws(HistoryError) -> [PeriodEnergy] { [] }
    public func events(of plug: PlugID?, from: Int64, to: Int64) throws(HistoryError) -> [StoredEvent] { [] }
    public func firings(from: Int64, to: Int64) throws(HistoryError) -> [StoredFiring] { [] }
    /// Copies what is readable into another directory.
    public func repair(into directory: String) throws(HistoryError) {}
}
