import PlugModel
import ProtocolCore

/// A trigger on entries of a plug's journal.
struct EventTrigger: Sendable {
    enum Kind: Hashable, Sendable {
        case button(ButtonPress)
        case relay(on: Bool?)
        case protection(Protection?)

        func isMet(by event: PlugEvent.Kind) -> Bool {
            switch (self, event) {
            case (.button(let wanted), .buttonPressed(let press)): wanted == press
            case (.relay(let wanted), .relayChanged(let on, _)): wanted == nil || wanted == on
            case (.protection(let wanted), .protectionTripped(let protection)): wanted == nil || wanted == protection
            case (.button, _), (.relay, _), (.protection, _): false
            }
        }
    }

    let place: TriggerPlace
    let written: String
    let kind: Kind
    fileprivate(set) var seed: FiringSeed?

    init(_ place: TriggerPlace, written: String, kind: Kind) {
        (self.place, self.written, self.kind) = (place, written, kind)
    }
}

/// The triggers on entries of journals.
struct EventTriggers: Sendable {
    private var triggers: [EventTrigger] = []

    mutating func add(_ trigger: EventTrigger) { triggers.append(trigger) }

    /// Finds the plugs of the triggers.
    mutating func bind(_ house: inout HouseState, _ rules: RuleTable) {
        for place in triggers.indices {
            guard let plug = house.plugs.find(triggers[place].written).index else { continue }
            triggers[place].seed = rules.seed("event", triggers[place].place, house.plugs[plug])
            house[plug].bind(event: place)
        }
    }

    /// Fires the rules of an event, each once.
    func handle(
        _ event: PlugEvent, of index: Int, age: Duration?, now: Instant, _ house: inout HouseState,
        _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        var last: Int?
        for place in house[index].events {
            // Copies only two fields, because a copy of the whole trigger would increment more reference counts.
            let (trigger, seed) = (triggers[place].place, triggers[place].seed)
            guard trigger.rule != last, triggers[place].kind.isMet(by: event.kind), let seed else { continue }
            last = trigger.rule
            var cause = Firing.Cause(
                executor.rules.source(of: trigger), plug: house.plugs[index].name, event: event.sequence)
            if let age, age > .zero { cause.age = age }
            executor.fire(trigger.rule, cause, seed.key(event.sequence), age: age, now: now, &house, &actions)
        }
    }
}
