import PlugModel
internal import ProtocolCore

/// When those controllers go whose time at the plug is limited.
///
/// A plug has no battery clock, so time passes while it has power, and no loss of power may give any back: flash says what is left
/// after the part of the time that is under way, as it does with event numbers. A restart costs a guest that part, at most an hour,
/// and never gains one. With guests flash is written each hour.
struct LimitedTimes: Sendable {
    private static let longestPart: UInt32 = 3600
    private static let shortestPart: UInt32 = 60

    private var ends: [PublicKey: Instant] = [:]
    /// When the next part begins, for all of them.
    private var nextPart: Instant?

    /// When ``pass(_:now:)`` has something to do.
    var nextDeadline: Instant? { ends.values.reduce(nextPart) { sooner($0, $1) } }

    /// Whole seconds, the last one begun counted.
    func secondsLeft(of key: PublicKey, now: Instant) -> UInt32? {
        ends[key].map { UInt32(clamping: ($0 - now).components.seconds + 1) }
    }

    /// The time of this controller is another one now.
    mutating func forget(_ key: PublicKey) { ends[key] = nil }

    /// The controller has another key now.
    mutating func move(from old: PublicKey, to new: PublicKey) { ends[new] = ends.removeValue(forKey: old) }

    /// Those whose time is over; they are still in the list. Where what flash has to say is no longer so, it stands in `controllers`.
    mutating func pass(_ controllers: inout PairedControllers, now: Instant) -> [PairedControllers.Controller] {
        let limited = controllers.all.filter { $0.secondsLeft != nil }
        guard !limited.isEmpty || !ends.isEmpty else { return [] }
        ends = ends.filter { known in limited.contains { $0.key == known.key } }
        var begins = nextPart.map { $0 <= now } ?? true
        for controller in limited where ends[controller.key] == nil {
            ends[controller.key] = now + .seconds(Int64(controller.secondsLeft ?? 0))
            begins = true
        }
        if begins { beginPart(&controllers, now: now) }
        return limited.filter { controller in ends[controller.key].map { $0 <= now } ?? false }
    }

    private mutating func beginPart(_ controllers: inout PairedControllers, now: Instant) {
        nextPart = nil
        for (key, end) in ends where end > now {
            let left = UInt32(clamping: (end - now).components.seconds)
            let part = min(left, max(Self.shortestPart, min(Self.longestPart, left / 8)))
            controllers.setSecondsLeft(left - part, of: key)
            nextPart = sooner(nextPart, now + .seconds(Int64(max(1, part))))
        }
    }
}
