/// Trips the plug when it gets too hot inside. A reset is possible only after the plug has cooled down.
struct OverTemperatureGuard: Sendable {
    /// The number of consecutive hot measurements that trip the plug. A single one may be a disturbance on the line.
    private static let measurementsToTrip = 2

    private let limit: TemperatureLimit?
    private var hotInARow = 0
    /// The latest temperature, or nil if it is unknown.
    private var latest: Int16?

    init(_ limit: TemperatureLimit?) { self.limit = limit }

    /// Returns true if this measurement trips the plug. Nil means that the thermometer failed.
    mutating func measured(decidegrees: Int16?) -> Bool {
        latest = decidegrees
        guard let limit, let decidegrees, decidegrees > limit.decidegrees else {
            hotInARow = 0
            return false
        }
        hotInARow = min(hotInARow + 1, Self.measurementsToTrip)
        return hotInARow == Self.measurementsToTrip
    }

    /// The temperature in tenths of a degree, or nil if the plug is cool enough for a reset. After a failure of the
    /// thermometer it is nil, because otherwise the plug could never be reset.
    var tooHot: Int16? {
        guard let limit, let latest, Int(latest) > Int(limit.decidegrees) - Int(limit.hysteresis) else { return nil }
        return latest
    }
}
