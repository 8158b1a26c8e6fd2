import ProtocolCore

/// Sees that something flows although the relay is open. Nothing in the plug can open contacts that have welded: all it can do is
/// say so.
struct WeldedRelayGuard: Sendable {
    private let limit: WeldedRelayLimit?
    private var dwell: Dwell

    init(_ limit: WeldedRelayLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// True when this measurement, of an open relay, is one too many.
    mutating func measured(deciwatts: Int32, milliamperes: UInt32?, now: Instant) -> Bool {
        guard let limit else { return false }
        let flows = Int64(deciwatts.magnitude) > limit.deciwatts || (milliamperes ?? 0) > limit.milliamperes
        return dwell.sees(flows, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
