import PlugModel
import ProtocolCore
import RuleModel

/// A rule in one reference-counted object. A copy of the rule itself would increment many reference counts.
private final class SharedRule: Sendable {
    let rule: Rule
    init(_ rule: Rule) { self.rule = rule }
}

/// The runtime state of a rule, without the state of its triggers.
struct RuleState: Sendable {
    private let shared: SharedRule
    /// True if an action waits. Only such a rule has runs in progress.
    let hasWaits: Bool
    /// The source of a firing's cause for each trigger, created once for all firings.
    let sources: [Firing.Cause.Source]
    /// The indexes of the plugs of each action, in order; nil for absent plugs.
    private(set) var targets: [[Int?]]
    /// The rules that fire when this one does, in order, with the place of the trigger.
    private(set) var listeners: [Listener] = []
    private(set) var isDisabled = false
    private(set) var lastFired: Instant?
    /// Nil if the rule has no rate limit.
    private var recent: RecentFirings?
    /// The time of the last reported near miss; nil before the first one.
    private var missTold: Instant?

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
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .wake, .call: false
            }
        }
        recent = (rule.limit ?? (rule.callsOnly ? nil : FiringLimit.usual)).map(RecentFirings.init)
    }

    /// Finds the plugs of each action.
    mutating func bind(_ plugs: PlugTable) {
        targets = rule.actions.map { action in action.plugs.map { plugs.find($0).index } }
    }

    /// Adds a rule that fires when this one does. A rule that names this one in several triggers becomes a listener only
    /// once, so it fires once.
    mutating func add(_ listener: Listener) {
        if !listeners.contains(where: { $0.rule == listener.rule }) { listeners.append(listener) }
    }

    mutating func enable(_ isOn: Bool) { isDisabled = !isOn }

    /// Returns true if a near miss may be reported, and then records its time.
    mutating func reportsMiss(at now: Instant) -> Bool {
        if let missTold, now - missTold < RuleEngine.missInterval { return false }
        missTold = now
        return true
    }

    /// Returns the limit that is reached, or nil if the rule may fire.
    func limitReached(at now: Instant) -> FiringLimit? {
        // The optional is not unwrapped into a variable, because the copy would increment reference counts.
        recent?.isReached(at: now) == true ? recent?.limit : nil
    }

    mutating func fired(at now: Instant) {
        lastFired = now
        recent?.add(now)
    }

    /// Copies the runtime state of an equal rule of the previous set.
    mutating func inherit(_ other: RuleState) {
        lastFired = other.lastFired
        recent = other.recent
        missTold = other.missTold
    }

    /// Returns the times of firings that still matter for the cooldown or the limit.
    func instants(at now: Instant) -> [Instant] {
        let last = lastFired.map { now < $0 + rule.cooldown ? [$0] : [] } ?? []
        let counted = recent?.instants(at: now) ?? []
        return counted.isEmpty ? last : counted
    }
}

/// The last firings of a rule, up to the number of its limit.
struct RecentFirings: Sendable {
    /// A limit above this counts as this number. Keeps the stored state of a rule small.
    static let maximumCount = 1024

    let limit: FiringLimit
    private let capacity: Int
    /// The span of the limit in nanoseconds.
    private let span: Int64
    /// A ring buffer. When it is full, `next` is the place of the oldest firing.
    private var ring: [Instant] = []
    private var next = 0

    init(_ limit: FiringLimit) {
        self.limit = limit
        capacity = min(max(limit.count, 0), Self.maximumCount)
        span = limit.span.wholeNanoseconds
    }

    /// Returns true if one more firing would exceed the limit.
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

    /// Returns the firings within the span, oldest first.
    func instants(at now: Instant) -> [Instant] {
        let inOrder = ring.count < capacity ? ring[...] : ring[next...] + ring[..<next]
        return inOrder.filter { now < $0 + limit.span }
    }
}

extension Rule {
    /// True if every action calls a script. The script's commands are limited instead of the firings.
    fileprivate var callsOnly: Bool {
        !actions.isEmpty && actions.allSatisfy { if case .call = $0 { true } else { false } }
    }

    /// A hash of the actions, as 32 hexadecimal digits. It covers neither a program's timeout nor a web hook's body, so
    /// a stored run continues with their new values.
    var actionsFingerprint: String {
        var hash = FNV1a128()
        for action in actions {
            hash.add("\(action)")
            // The words of a web hook omit the path, which may be a secret.
            if case .webHook(let hook) = action { hash.add(hook.url) }
            if case .call(let handler) = action { hash.add(UInt64(handler.index)) }
        }
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
