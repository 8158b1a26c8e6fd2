import Metering
import PlugModel
import PowerHistory

/// Which of a plug's counter readings are worth keeping: one when it comes, one each quarter of an hour, and one with each
/// recording.
struct CounterCourse {
    static let quarter: Int64 = 900_000

    private var newest: CounterReading?
    private var kept: CounterReading?

    /// - Parameter at: when it was read, milliseconds since 1970.
    /// - Returns: the reading where it is to be kept now.
    mutating func take(_ reading: Reading, of plug: PlugID, boot: BootID, at: Int64) -> CounterReading? {
        let milliseconds = reading.time.nanoseconds / 1_000_000
        newest = CounterReading(
            plug: plug, boot: boot, origin: at - milliseconds, milliseconds: milliseconds,
            milliwattHours: reading.milliwattHours)
        guard let kept, kept.boot == boot else { return unrecorded() }
        let isSameQuarter = (kept.origin + kept.milliseconds) / Self.quarter == at / Self.quarter
        return isSameQuarter ? nil : unrecorded()
    }

    /// The newest, where it is not kept yet.
    mutating func unrecorded() -> CounterReading? {
        guard let newest, newest != kept else { return nil }
        kept = newest
        return newest
    }
}
