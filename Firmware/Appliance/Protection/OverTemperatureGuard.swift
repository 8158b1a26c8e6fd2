/// Opens the relay when the plug gets hot inside, and keeps it open until it has cooled down.
struct OverTemperatureGuard: Sendable {
    /// One alone may be a disturbance of the line.
    private static let measurementsToTrip = 2

    private let limit: TemperatureLimit?
    private var hotInARow = 0
    /// Nil where nobody knows.
    private var latest: Int16?

    init(_ limit: TemperatureLimit?) { self.limit = limit }

    /// True when this measurement trips the plug; nil: the thermometer failed.
    mutating func measured(decidegrees: Int16?) -> Bool {
        latest = decidegrees
        guard let limit, let decidegrees, decidegrees > limit.decidegrees else {
            hotInARow = 0
            return false
        }
        hotInARow = min(hotInARow + 1, Self.measurementsToTrip)
        return hotInARow == Self.measurementsToTrip
    }

    /// In tenths of a degree; nil once it is cool enough to be reset. One whose thermometer failed can be reset: else it could
    /// never be again.
    var tooHot: Int16? {
        guard let limit, let latest, Int(latest) > Int(limit.decidegrees) - Int(limit.hysteresis) else { return nil }
        return latest
    }
}
