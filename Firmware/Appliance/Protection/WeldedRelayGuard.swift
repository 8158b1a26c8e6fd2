import ProtocolCore

/// Detects power or current through an open relay. The plug cannot open welded contacts; it can only report them.
struct WeldedRelayGuard: Sendable {
    private let limit: WeldedRelayLimit?
    private var dwell: Dwell

    init(_ limit: WeldedRelayLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// Returns true if this measurement of an open relay shows welded contacts.
    mutating func measured(deciwatts: Int32, milliamperes: UInt32?, now: Instant) -> Bool {
        guard let limit else { return false }
        let flows = Int64(deciwatts.magnitude) > limit.deciwatts || (milliamperes ?? 0) > limit.milliamperes
        return dwell.sees(flows, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
