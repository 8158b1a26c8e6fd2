import PlugModel
import ProtocolCore

/// A trigger on the loss of a plug, or on its return after an observed loss. A loss or a return before the end of the
/// dwell cancels the dwell.
struct PresenceTrigger: PlacedTrigger, Sendable {
    let place: TriggerPlace
    let written: String
    let isLost: Bool
    let dwell: Duration
    /// The last plug of that name that was present, or nil.
    private(set) var plug: Int?
    /// For a trigger on the return: true if the loss was observed.
    private var wasLost = false
    /// The end of the dwell and its start; nil while no dwell is in progress.
    private(set) var due: Instant?
    private(set) var since: Instant?

    init(_ place: TriggerPlace, written: String, isLost: Bool, dwell: Duration) {
        (self.place, self.written, self.isLost, self.dwell) = (place, written, isLost, dwell)
    }

    /// Copies the state of an equal trigger of the previous set of rules.
    mutating func inherit(_ other: PresenceTrigger) {
        (plug, wasLost, due, since) = (other.plug, other.wasLost, other.due, other.since)
    }

    /// Sets the plug. A trigger whose plug changes forgets its state.
    mutating func bind(_ plug: Int) {
        guard plug != self.plug else { return }
        self.plug = plug
        finish()
    }

    mutating func wentAway(now: Instant) {
        if isLost { return begin(now: now) }
        wasLost = true
        cancel()
    }

    mutating func returned(now: Instant) {
        if isLost { return cancel() }
        if wasLost, due == nil { begin(now: now) }
    }

    /// Ends the dwell and forgets the loss.
    mutating func finish() {
        cancel()
        wasLost = false
    }

    private mutating func begin(now: Instant) { (due, since) = (now + dwell, now) }
    private mutating func cancel() { (due, since) = (nil, nil) }
}

/// The triggers on the loss and the return of plugs.
struct PresenceTriggers: Sendable {
    private var triggers: [PresenceTrigger] = []
    /// The next end of a dwell.
    private(set) var deadline: Instant?

    mutating func add(_ trigger: PresenceTrigger) { triggers.append(trigger) }

    /// Copies the state of equal triggers of the previous set of rules.
    mutating func inherit(_ old: PresenceTriggers, _ kept: [Int: Int]) {
        let old = old.triggers.byPlace(kept)
        for index in triggers.indices {
            if let before = old[triggers[index].place] { triggers[index].inherit(before) }
        }
    }

    /// Finds the plugs of the triggers. An absent plug remains the plug of its triggers.
    mutating func bind(_ plugs: PlugTable) {
        for place in triggers.indices {
            if let plug = plugs.find(triggers[place].written).index { triggers[place].bind(plug) }
        }
    }

    mutating func wentAway(_ plug: Int, now: Instant) {
        for place in triggers.indices where triggers[place].plug == plug { triggers[place].wentAway(now: now) }
        findDeadline()
    }

    mutating func returned(_ plug: Int, now: Instant) {
        for place in triggers.indices where triggers[place].plug == plug { triggers[place].returned(now: now) }
        findDeadline()
    }

    /// Fires the triggers whose dwell is over, at most one per rule, in the order of the rules.
    mutating func endDwells(
        now: Instant, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard let due = deadline, due <= now else { return }
        var last: Int?
        for index in triggers.indices {
            let trigger = triggers[index]
            let place = trigger.place
            guard let due = trigger.due, due <= now, let since = trigger.since, let plug = trigger.plug else {
                continue
            }
            triggers[index].finish()
            guard place.rule != last else { continue }
            last = place.rule
            let cause = Firing.Cause(
                executor.rules.source(of: place), plug: house.plugs[plug].name, since: since)
            // The number includes the wall clock, if known, because the controller's monotonic clock starts again at
            // each boot.
            let seed = executor.rules.seed(trigger.isLost ? "lost" : "back", place, house.plugs[plug])
            let second = house.localTime?.second(at: since) ?? 0
            let number = UInt64(bitPattern: second &* 1_000_000_000 &+ since.nanoseconds)
            executor.fire(place.rule, cause, seed.key(number), age: now - due, now: now, &house, &actions)
        }
        findDeadline()
    }

    /// Finds the next end of a dwell, after the triggers changed.
    mutating func findDeadline() { deadline = triggers.lazy.compactMap(\.due).min() }
}
