import Automation
import DurableRules
import PlugModel
import PowerHistory
import ProtocolCore

/// Performs the actions of rules in the virtual house, and compares commands with the recorded switchings.
extension Backtest {
    /// The maximum number of actions that follow from one event. Further actions are dropped, which ends an endless
    /// chain of rules that trigger each other.
    private static let longestChain = 10_000

    mutating func perform(_ actions: [RuleEngineAction], at time: Int64) {
        guard !actions.isEmpty else { return }
        var queue = actions
        var next = 0
        while next < queue.count, next < Self.longestChain {
            let action = queue[next]
            next += 1
            switch action {
            case .fired(let firing):
                report.counts[firing.rule]?.firings += 1
                note(firing, at: time)
            case .heldBack(let firing, let reason):
                report.counts[firing.rule]?.heldBack[reason.kind, default: 0] += 1
                if tellsAsides { aside(.heldBack(firing, reason), at: time) }
            case .nearMiss(let miss):
                report.counts[miss.rule]?.nearMisses += 1
                if tellsAsides { aside(.nearMiss(miss), at: time) }
            case .send(let request, let firing):
                compare(request, note(.commanded(request, firing), firing, at: time), at: time)
                queue += carryOut(request, at: time)
            case .remember(let request, let firing, let span):
                let place = note(.commanded(request, firing), firing, isKept: true, at: time)
                deferred[request.plug.lowercased()] = DeferredCommand(
                    request: request, place: place, until: time.adding(span))
            case .notSent(let firing, let plug, let reason):
                note(.notSent(firing, plug: plug, reason), firing, at: time)
            case .call(let scriptCall): queue += call(scriptCall, at: time)
            case .effect(let request): note(.performing(request), request.firing, at: time)
            case .step(let firing, let step): note(.step(firing, step), firing, at: time)
            }
        }
    }

    // MARK: Commands

    private mutating func carryOut(_ request: CommandRequest, at time: Int64) -> [RuleEngineAction] {
        guard var relay = relays[request.plug] else { return [] }
        let event = relay.carryOut(request, at: time)
        relays[request.plug] = relay
        let now = Self.instant(time)
        let outcome = CommandOutcome.done(relay.state, event: event?.sequence)
        var actions = engine.handle(
            .commandFinished(plug: request.plug, id: request.id, outcome: outcome), now: now)
        actions += engine.handle(.state(plug: request.plug, on: relay.on, level: relay.level), now: now)
        if let event { actions += engine.handle(.happened(plug: request.plug, event, age: .zero), now: now) }
        return actions
    }

    /// Performs the waiting command of a plug that has returned, unless the command has expired.
    mutating func grant(_ place: Int, at time: Int64) {
        let name = streams[place].name
        guard let command = deferred.removeValue(forKey: name.lowercased()), time <= command.until else { return }
        var request = command.request
        request.plug = name
        compare(request, command.place, at: time)
        perform(carryOut(request, at: time), at: time)
    }

    /// Delivers an event of the virtual house to the engine.
    mutating func tell(_ event: PlugEvent, of name: String, age: Duration? = .zero, at time: Int64) {
        let now = Self.instant(time)
        var actions: [RuleEngineAction] = []
        if case .relayChanged(let on, _) = event.kind {
            actions += engine.handle(.state(plug: name, on: on, level: relays[name]?.level), now: now)
        }
        actions += engine.handle(.happened(plug: name, event, age: age), now: now)
        perform(actions, at: time)
    }

    /// Handles an event of a plug's journal.
    ///
    /// - Parameter byRule: True if a command of one of the rules caused the event. The switching is then only compared
    ///   with the commands of the backtest, whose rules switch the plug themselves.
    mutating func happened(_ stored: StoredEvent, byRule: Bool) {
        guard let place = places[stored.plug], case .event(let recordedEvent) = stored.content else { return }
        let name = streams[place].name
        if !streams[place].isPresent {
            appear(place, at: stored.at)
            grant(place, at: stored.at)
        }
        let age: Duration? = stored.isTimeKnown ? .zero : nil
        var event: PlugEvent?
        if case .relayChanged(let on, let cause) = recordedEvent.kind {
            recorded(name, on, at: stored.at, byRule: byRule)
            guard !byRule else { return }
            event = relays[name]?.switchTo(on, cause, at: stored.at)
        } else {
            event = relays[name]?.event(recordedEvent.kind, at: stored.at)
        }
        if let event { tell(event, of: name, age: age, at: stored.at) }
    }

    // MARK: Comparison with the record

    /// Compares a command with the recorded switchings of its plug.
    ///
    /// - Parameter place: The command's place in the report; nil if the report does not list it.
    private mutating func compare(_ request: CommandRequest, _ place: CommandPlace?, at time: Int64) {
        guard let place, let on = request.command.switchesTo else { return }
        report.firings[place.firing].recorded[place.step] = switchings[request.plug]?.command(on, at: time, place)
    }

    /// Records that the plug was switched in reality, and updates the commands to which this switching is the nearest.
    mutating func recorded(_ name: String, _ on: Bool, at time: Int64, byRule: Bool = false) {
        for (place, recorded) in switchings[name]?.switched(on, at: time, byRule: byRule) ?? [] {
            report.firings[place.firing].recorded[place.step] = recorded
        }
    }

    // MARK: Traces

    private mutating func note(_ firing: Firing, at time: Int64) {
        guard firings[firing.id] == nil, report.firings.count < BacktestReport.limit else { return }
        firings[firing.id] = report.firings.count
        report.firings.append(
            BacktestReport.Firing(rule: firing.rule, at: time, notices: FiringNotices(firing, at: time, book)))
    }

    /// Adds a notice to its firing in the report.
    ///
    /// - Returns: The place in the report; nil if the report does not list it.
    @discardableResult
    mutating func note(
        _ notice: RuleNotice, _ firing: Firing, isKept: Bool = false, at time: Int64
    ) -> CommandPlace? {
        guard let index = firings[firing.id],
            let step = report.firings[index].notices.add(notice, at: time, isKept: isKept)
        else { return nil }
        return CommandPlace(firing: index, step: step)
    }

    private mutating func aside(_ notice: RuleNotice, at time: Int64) {
        guard report.asides.count < BacktestReport.limit else {
            report.omittedAsides += 1
            return
        }
        if let trace = book.record(notice, at: time, now: Self.instant(time)) { report.asides.append(trace) }
    }
}

/// A command that waits for an absent plug.
struct DeferredCommand: Sendable {
    var request: CommandRequest
    /// The command's place in the report; nil if the report does not list it.
    var place: CommandPlace?
    /// The expiry in milliseconds since 1970.
    var until: Int64
}

extension Int64 {
    /// Adds a duration to milliseconds, clamped to the maximum.
    func adding(_ duration: Duration) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(duration.wholeNanoseconds / 1_000_000)
        return overflow ? .max : sum
    }
}

extension PlugCommand {
    /// The relay's state after this command; nil if the command does not switch.
    fileprivate var switchesTo: Bool? {
        switch self {
        case .setRelay(let on, _): on
        case .setLevel(let level, _): level.permille > 0
        case .identify, .resetProtection, .rename, .configure: nil
        }
    }
}

extension HoldBack {
    /// The reason without details that differ each time, as a key for counts.
    fileprivate var kind: String {
        switch self {
        case .condition(let condition): "condition does not hold: \(condition)"
        case .cooldown: "cooling down"
        case .old: "too old"
        case .running: "the previous firing was not finished"
        case .limit: "fired too often"
        case .disabled: "turned off"
        }
    }
}
