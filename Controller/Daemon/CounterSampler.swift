import Metering
import PlugModel
import PowerHistory

/// Selects which counter readings of a plug to store: the first reading of a boot, one reading per quarter of an hour,
/// and one with each stored window of fetched samples.
struct CounterSampler {
    /// The length of a quarter of an hour in milliseconds.
    static let quarter: Int64 = 900_000

    private var newest: CounterReading?
    private var kept: CounterReading?

    /// Handles a reading.
    ///
    /// - Parameter at: The time of the reading, in milliseconds since 1970.
    /// - Returns: The reading if it is to be stored now, or nil.
    mutating func add(_ reading: Reading, of plug: PlugID, boot: BootID, at: Int64) -> CounterReading? {
        let milliseconds = reading.time.nanoseconds / 1_000_000
        newest = CounterReading(
            plug: plug, boot: boot, origin: at - milliseconds, milliseconds: milliseconds,
            milliwattHours: reading.milliwattHours)
        guard let kept, kept.boot == boot else { return unrecorded() }
        let isSameQuarter = (kept.origin + kept.milliseconds) / Self.quarter == at / Self.quarter
        return isSameQuarter ? nil : unrecorded()
    }

    /// Returns the newest reading if it is not stored yet, or nil. The reading then counts as stored.
    mutating func unrecorded() -> CounterReading? {
        guard let newest, newest != kept else { return nil }
        kept = newest
        return newest
    }
}
