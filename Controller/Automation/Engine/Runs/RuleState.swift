import PlugModel
import ProtocolCore

/// One reference to count, where a rule itself has many.
private final class SharedRule: Sendable {
    let rule: Rule
    init(_ rule: Rule) { self.rule = rule }
}

/// What the engine keeps of a rule besides its triggers.
struct RuleState: Sendable {
    private let shared: SharedRule
    /// Only the actions of such a rule are ever under way.
    let hasWaits: Bool
    /// What firings of its triggers say of their cause, in their order: made once.
    let sources: [Firing.Cause.Source]
    /// Where the plugs of its actions are, in their order, as long as they are there.
    var targets: [[Int?]]
    /// Rules that fire when this one does, in their order, and which of their triggers that is.
    var listeners: [Listener] = []
    var isDisabled = false
    var lastFired: Instant?
    /// Nil: it may fire as often as it wants.
    var recent: RecentFirings?
    /// When a near miss of it was told last.
    var missTold: Instant?
    /// How many of its runs are under way, or wait for their turn.
    var runs = 0

    var rule: Rule { _read { yield shared.rule } }

    struct Listener: Hashable, Sendable {
        var rule: Int
        var place: Int
    }

    init(_ rule: Rule) {
        shared = SharedRule(rule)
        sources = rule.triggers.map { .trigger($0) }
        targets = rule.actions.map { $0.plugs.map { _ in nil } }
        hasWaits = rule.actions.contains { action in
            switch action {
            case .wait, .waitUntil: true
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .call: false
            }
        }
        recent = (rule.limit ?? (rule.callsOnly ? nil : RuleEngine.usualLimit)).map(RecentFirings.init)
    }

    /// Nil while it may fire.
    func limitReached(at now: Instant) -> FiringLimit? {
        // Not taken out of the optional: copying it would count references.
        recent?.isReached(at: now) == true ? recent?.limit : nil
    }

    mutating func fired(at now: Instant) {
        lastFired = now
        recent?.add(now)
    }

    /// Takes what an equal rule of an earlier set was in the midst of.
    mutating func take(_ other: RuleState) {
        lastFired = other.lastFired
        recent = other.recent
        missTold = other.missTold
        runs = other.runs
    }

    /// When it fired, as far as that still matters.
    func instants(at now: Instant) -> [Instant] {
        let last = lastFired.map { now < $0 + rule.cooldown ? [$0] : [] } ?? []
        let counted = recent?.instants(at: now) ?? []
        return counted.isEmpty ? last : counted
    }
}

/// The last firings of a rule, as many as its limit counts.
struct RecentFirings: Sendable {
    /// A limit of more is one of so many: it keeps what is stored of a rule small.
    static let maximumCount = 1024

    let limit: FiringLimit
    private let capacity: Int
    /// Nanoseconds.
    private let span: Int64
    /// Where the ring is full, `next` is the place of the oldest.
    private var ring: [Instant] = []
    private var next = 0

    init(_ limit: FiringLimit) {
        self.limit = limit
        capacity = min(max(limit.count, 0), Self.maximumCount)
        span = limit.span.wholeNanoseconds
    }

    /// Whether one more would be too many.
    func isReached(at now: Instant) -> Bool {
        if capacity == 0 { return true }
        guard ring.count == capacity else { return false }
        let (end, overflow) = ring[next].nanoseconds.addingReportingOverflow(span)
        return overflow || now.nanoseconds < end
    }

    mutating func add(_ now: Instant) {
        if capacity == 0 { return }
        if ring.count < capacity { ring.append(now) } else { ring[next] = now }
        next = next + 1 == capacity ? 0 : next + 1
    }

    /// Oldest first.
    func instants(at now: Instant) -> [Instant] {
        let inOrder = ring.count < capacity ? ring[...] : ring[next...] + ring[..<next]
        return inOrder.filter { now < $0 + limit.span }
    }
}

extension Rule {
    /// All that it does is to ask a script, whose commands are limited instead of its firings.
    fileprivate var callsOnly: Bool {
        !actions.isEmpty && actions.allSatisfy { if case .call = $0 { true } else { false } }
    }

    /// Of its actions: another one where any of them was changed.
    var actionsFingerprint: String {
        var hash = FNV1a128()
        for action in actions {
            hash.add("\(action)")
            // Its words tell of no path, since that may be a secret.
            if case .webHook(let hook) = action { hash.add(hook.url) }
            if case .call(let handler) = action { hash.add(UInt64(handler.index)) }
        }
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
