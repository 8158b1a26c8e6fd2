import ProtocolCore

/// The times at which a record is queried again (RFC 6762 §5.2). Only the next one is stored, because a cache holds
/// thousands of plans.
struct RefreshPlan: Hashable, Sendable {
    private let start: Instant
    private let lifetime: Duration
    private let jitter: Double
    private var step = 0
    private(set) var next: Instant

    init(from start: Instant, lifetime: Duration, jitter: Double) {
        self.start = start
        self.lifetime = lifetime
        self.jitter = jitter
        next = start
        next = time(of: 0)
    }

    private func time(of step: Int) -> Instant { earliest(of: step) + lifetime * jitter }

    private func earliest(of step: Int) -> Instant {
        start + lifetime * (Double(RFC6762.refreshPercentages[step]) / 100)
    }

    /// Returns the rest of the plan, or nil if no refresh is left. A refresh counts as done when its time without
    /// jitter has passed.
    func after(_ now: Instant) -> RefreshPlan? {
        var plan = self
        while plan.earliest(of: plan.step) <= now {
            plan.step += 1
            guard plan.step < RFC6762.refreshPercentages.count else { return nil }
            plan.next = time(of: plan.step)
        }
        return plan
    }
}
