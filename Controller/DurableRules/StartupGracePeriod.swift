import PlugModel
import ProtocolCore
import RuleModel

/// The period after a start in which plugs that the rules name are not found yet. A press of one plug's button must not
/// be evaluated before the lamp that it switches is present, and a stored wait must not end before the fan that it
/// turns off is present. Events are queued here in the order of arrival, and the engine's deadlines wait.
struct StartupGracePeriod: Sendable {
    /// The maximum length of the period. It is longer than the search for the plugs of a house takes, and shorter than
    /// ``Rule/usualMaximumAge``.
    static let longest = Duration.seconds(3)
    /// The maximum number of queued events. When it is reached, the period ends and all queued events are evaluated.
    /// Stops a replay from filling the memory.
    static let maximumEvents = 1024

    struct Held: Sendable {
        let plug: String
        let event: PlugEvent
        let age: Duration?
        let came: Instant
    }

    let until: Instant
    private var missing: Set<PlugID>
    private(set) var held: [Held] = []

    /// Returns nil if the rules use no plug of the stored memory.
    init?(_ rules: [Rule], _ memory: StoredRuleState, now: Instant) {
        let named = Set(rules.flatMap(\.plugs).map { $0.lowercased() })
        // A script may use any plug.
        let asksAny = rules.contains { !$0.handlers.isEmpty }
        let bound = Set(rules.flatMap(\.plugs).compactMap { memory.names[$0] })
        let awaited = memory.plugs.filter { plug in
            asksAny || named.contains(plug.name.lowercased()) || bound.contains(plug.id)
        }
        missing = Set(awaited.map(\.id))
        until = now + Self.longest
        if missing.isEmpty { return nil }
    }

    var isComplete: Bool { missing.isEmpty || held.count >= Self.maximumEvents }

    mutating func appeared(_ id: PlugID) { missing.remove(id) }

    mutating func hold(_ event: PlugEvent, of plug: String, age: Duration?, now: Instant) {
        held.append(Held(plug: plug, event: event, age: age, came: now))
    }

    func holdsEvents(of plug: String) -> Bool { held.contains { $0.plug == plug } }
}
