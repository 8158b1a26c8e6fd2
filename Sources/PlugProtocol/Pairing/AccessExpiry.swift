import PlugModel
internal import ProtocolCore

/// The expiry of controllers with a time limit.
///
/// A plug has no battery-backed clock, so the time passes only while it has power. A power loss must never extend
/// access. Time is therefore consumed in parts: flash stores the time that remains after the current part, before that
/// part begins. A restart costs a controller the rest of the current part, at most an hour. While there are controllers
/// with a time limit, flash is written at least once per hour.
struct AccessExpiry: Sendable {
    private static let longestPart: UInt32 = 3600
    private static let shortestPart: UInt32 = 60

    private var ends: [PublicKey: Instant] = [:]
    /// The start of the next part, for all controllers, or nil if no part is planned.
    private var nextPart: Instant?

    /// The time of the next ``pass(_:now:)``.
    var nextDeadline: Instant? { ends.values.reduce(nextPart) { sooner($0, $1) } }

    /// Returns the remaining time of a controller in whole seconds, or nil for no limit. The result exceeds the exact
    /// time by up to one second.
    func secondsLeft(of key: PublicKey, now: Instant) -> UInt32? {
        ends[key].map { UInt32(clamping: ($0 - now).components.seconds + 1) }
    }

    /// Discards the expiry of a controller that was removed or whose time limit changed.
    mutating func forget(_ key: PublicKey) { ends[key] = nil }

    /// Transfers the expiry to the controller's new key.
    mutating func move(from old: PublicKey, to new: PublicKey) { ends[new] = ends.removeValue(forKey: old) }

    /// Returns the controllers whose time is over; the caller removes them. Updates the stored times in `controllers`
    /// when a new part begins; the caller writes them to flash.
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
