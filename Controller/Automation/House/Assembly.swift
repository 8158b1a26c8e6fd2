import PlugModel
import ProtocolCore

/// The first moments after a start, while plugs that the rules name are not back yet: a press of one plug must not be judged
/// before the lamp that it switches is there, nor a wait of before end before the fan is there that it turns off. Events wait here, in
/// the order in which they came, and so do the engine's deadlines.
struct Assembly: Sendable {
    /// Longer than a house needs to be found again, shorter than ``RuleEngine/maximumAge``.
    static let longest = Duration.seconds(3)
    /// Events that wait. More than these and they are judged with what is known; stops a replay from filling the memory.
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

    /// Nil where nobody is missing.
    init?(_ rules: [Rule], _ memory: HouseMemory, now: Instant) {
        let named = Set(rules.flatMap(\.plugs).map { $0.lowercased() })
        // Nobody knows which plugs a script will ask for.
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
