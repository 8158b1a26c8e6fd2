internal import PlugModel
internal import ProtocolCore

/// Limits how often controllers' requests may write to flash.
///
/// Each controller has its own allowance, so one cannot consume another's. All controllers that are not owners share a
/// second one, so that many guests together cannot wear out the flash. smartplug.proto lists the limits.
struct FlashBudget: Sendable {
    /// A token bucket that refills at a steady rate.
    private struct Allowance: Sendable {
        let burst: Int
        let interval: Duration
        /// The time at which all tokens will be available.
        private var fullAt = Instant.zero

        init(burst: Int, interval: Duration) { (self.burst, self.interval) = (burst, interval) }

        func allows(now: Instant) -> Bool { max(fullAt, now) - now <= interval * (burst - 1) }

        mutating func spend(now: Instant) { fullAt = max(fullAt, now) + interval }
    }

    /// At most 60 writes in any hour: a burst of 20, and 40 refilled tokens.
    private static let perController = Allowance(burst: 20, interval: .seconds(90))
    /// At most 120 writes in any hour.
    private static let perAllOthers = Allowance(burst: 20, interval: .seconds(36))

    private var controllers: [AuthorityID: Allowance] = [:]
    private var others = FlashBudget.perAllOthers

    /// Consumes a token for one write. Returns false and consumes nothing if none is available.
    mutating func spend(of controller: AuthorityID, _ role: Role, now: Instant) -> Bool {
        var own = controllers[controller] ?? FlashBudget.perController
        guard own.allows(now: now), role == .owner || others.allows(now: now) else { return false }
        own.spend(now: now)
        controllers[controller] = own
        if role != .owner { others.spend(now: now) }
        return true
    }

    /// Discards the allowances of controllers that are no longer paired.
    mutating func keep(only paired: [AuthorityID]) {
        let paired = Set(paired)
        controllers = controllers.filter { paired.contains($0.key) }
    }
}

extension Refusal {
    static let tooManyWrites = Refusal(
        .busy,
        "This controller has had the plug write to its flash too often in the last hour; try again in two minutes.")
}
