internal import PlugModel
internal import ProtocolCore

/// How often requests of controllers may write to flash.
///
/// Each controller has an allowance of its own, so that none can use up what another needs, and all that are not owners share a
/// second one, so that many guests do not wear out the flash together. The limits are in the table of smartplug.proto.
struct FlashBudget: Sendable {
    /// Tokens that come back at a steady rate.
    private struct Allowance: Sendable {
        let burst: Int
        let interval: Duration
        /// When all tokens will be back.
        private var fullAt = Instant.zero

        init(burst: Int, interval: Duration) { (self.burst, self.interval) = (burst, interval) }

        func allows(now: Instant) -> Bool { max(fullAt, now) - now <= interval * (burst - 1) }

        mutating func spend(now: Instant) { fullAt = max(fullAt, now) + interval }
    }

    /// At most 60 in any hour: 20 at once, and 40 that come back in an hour.
    private static let perController = Allowance(burst: 20, interval: .seconds(90))
    /// At most 120 in any hour.
    private static let perAllOthers = Allowance(burst: 20, interval: .seconds(36))

    private var controllers: [AuthorityID: Allowance] = [:]
    private var others = FlashBudget.perAllOthers

    /// Takes a token for one write. Returns false, and takes nothing, if there is none left.
    mutating func spend(of controller: AuthorityID, _ role: Role, now: Instant) -> Bool {
        var own = controllers[controller] ?? FlashBudget.perController
        guard own.allows(now: now), role == .owner || others.allows(now: now) else { return false }
        own.spend(now: now)
        controllers[controller] = own
        if role != .owner { others.spend(now: now) }
        return true
    }

    /// Forgets controllers that are no longer paired.
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
