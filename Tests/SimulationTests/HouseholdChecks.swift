import PlugModel
import ProtocolCore
import RuleModel

/// The invariants of the simulated house.
extension Household {
    /// Checks after every delivery that no event is repeated or missing without a reported gap, that no command takes
    /// effect twice, and that each firing has as its cause a change that the controller received.
    func check() throws {
        let controller = controller
        if let violation = controller.violation { throw House.Broken(description: violation) }
        for name in plugs.keys {
            if let violation = plug(name).truth.violation { throw House.Broken(description: "\(name): \(violation)") }
        }
        guard controller.fresh.at == lan.clock(of: controllerHost) else { return }
        for firing in controller.fresh.firings {
            guard let plug = firing.cause.plug else { throw House.Broken(description: "a firing has no plug") }
            if case .trigger(.activePower(_, let threshold)) = firing.cause.source {
                try checkRise(plug, threshold, controller)
            } else if let sequence = firing.cause.event {
                try checkPress(plug, sequence, controller)
            } else {
                throw House.Broken(description: "a firing has no cause")
            }
        }
    }

    /// Checks that the power rose after the controller's first reading of this boot, and that this rise was at least
    /// the dwell time ago. An earlier process of the controller may have received that reading.
    private func checkRise(_ name: String, _ threshold: PowerThreshold, _ controller: RulingController) throws {
        let plug = plug(name)
        guard let boot = controller.plugs[name]?.description?.boot, let first = controller.firstReadings[boot] else {
            throw House.Broken(description: "a rule fired on the power of \(name) before its first reading")
        }
        // If the plug has booted since the firing, its readings are of a later boot and cannot be compared.
        guard boot == plug.boot else { return }
        let watts = { (deciwatts: Int32) in Double(deciwatts) / 10 }
        let seen = plug.measured.filter { $0.key >= first }.sorted { $0.key < $1.key }
        guard let armed = seen.first(where: { threshold.isArmed(by: watts($0.value)) })?.key,
            let rise = seen.first(where: { $0.key > armed && threshold.isCrossed(by: watts($0.value)) })?.key
        else { throw House.Broken(description: "a rule fired, but the power of \(name) did not rise") }
        guard lan.clock(of: plugs[name]!) - rise >= threshold.dwell else {
            throw House.Broken(description: "a rule fired before the dwell ended")
        }
    }

    private func checkPress(_ name: String, _ sequence: SequenceNumber, _ controller: RulingController) throws {
        guard let event = controller.records[name]?.seen.last(where: { $0.sequence == sequence }),
            case .buttonPressed = event.kind
        else { throw House.Broken(description: "a rule fired without a press") }
        guard let description = controller.plugs[name]?.description, description.boot == event.boot,
            plug(name).boot == event.boot
        else { throw House.Broken(description: "a rule fired on a press of another boot") }
        // The controller's estimate of the plug's clock is uncertain by half the round trip of Hello and by the drift
        // since then, in both directions.
        let age = lan.clock(of: plugs[name]!) - event.time
        let known = controller.plugs[name]?.machine.clock ?? description.clock
        let uncertainty = known.uncertainty(at: lan.clock(of: controllerHost))
        guard age <= Rule.usualMaximumAge + uncertainty * 2 + .milliseconds(1) else {
            throw House.Broken(description: "a rule fired on a press that is \(age) old")
        }
    }

    /// Checks after a quiet period that every event was received or lies in a gap, and that commands and their effects
    /// match.
    func checkOutcome() throws {
        let controller = controller
        for name in plugs.keys.sorted() {
            let record = controller.records[name] ?? Database()
            let last = plug(name).machine!.nextSequence - 1
            guard record.cursor == last else {
                throw House.Broken(description: "\(name): received \(record.cursor) of \(last) events")
            }
            try checkPresses(name, record)
            try checkEffects(name, record, controller)
        }
        for command in controller.commands {
            if case .done(let state, event: nil) = command.outcome, case .setRelay(let on, _) = command.request.command,
                state.relayOn != on
            {
                throw House.Broken(description: "\(command.request.plug) confirmed a command without its effect")
            }
            guard case .done(_, event: let sequence?) = command.outcome,
                let event = controller.records[command.request.plug]?.seen.first(where: { $0.sequence == sequence })
            else { continue }
            guard case .relayChanged(_, cause: .controller(_, command.request.id, owner)) = event.kind else {
                throw House.Broken(description: "event \(sequence) does not confirm its command")
            }
        }
    }

    private func checkPresses(_ name: String, _ record: Database) throws {
        guard record.gaps.isEmpty, record.beginnings.isEmpty else { return }
        let plug = plug(name)
        let seen = record.seen.count { if case .buttonPressed = $0.kind { true } else { false } }
        guard (plug.pressesCertain...plug.pressesBegun).contains(seen) else {
            throw House.Broken(
                description: "\(name): received \(seen) of \(plug.pressesCertain) to \(plug.pressesBegun) presses")
        }
    }

    private func checkEffects(_ name: String, _ record: Database, _ controller: RulingController) throws {
        for event in record.seen {
            guard case .relayChanged(let on, cause: .controller(_, let request, let authority)) = event.kind else {
                continue
            }
            // Commands of other controllers are allowed.
            guard authority == owner else { continue }
            let isCommanded = controller.commands.contains {
                $0.request.plug == name && $0.request.id == request
                    && $0.request.command == .setRelay(on: on, autoOff: nil)
            }
            guard isCommanded else {
                throw House.Broken(description: "\(name): event \(event.sequence) has no command")
            }
        }
    }

    /// Runs an evening without faults. The rules must act exactly as written, and the plugs' events must confirm it.
    func spendAnEvening() throws {
        for name in ["Light", "Television"] where !plug(name).relayOn {
            try act(.press, on: name == "Light" ? "Switch" : name, then: .seconds(2))
        }
        try act(.load(50), on: "Television", then: .seconds(4))
        try expect(light: true, firings: controller.firings.count, "before the television is on")
        let firings = controller.firings.count
        try act(.load(900), on: "Television", then: .milliseconds(2900))
        try expect(light: true, firings: firings, "during the dwell")
        try act(.load(900), on: "Television", then: .milliseconds(1500))
        try expect(light: false, firings: firings + 1, "after the dwell")
        guard plug("Amplifier").relayOn else { throw House.Broken(description: "the amplifier is off") }
        let commands = controller.commands.suffix(2)
        guard commands.allSatisfy({ if case .done = $0.outcome { true } else { false } }),
            case .relayChanged(on: false, cause: .controller(_, commands.first?.request.id, owner)) =
                controller.records["Light"]?.seen.last?.kind
        else { throw House.Broken(description: "the events do not confirm the commands") }
        for press in 1...2 {
            try act(.press, on: "Switch", then: .seconds(2))
            try expect(light: press == 1, firings: firings + 1 + press, "after press \(press)")
        }
    }

    private func expect(light: Bool, firings: Int, _ moment: String) throws {
        let isLit = plug("Light").relayOn
        guard isLit == light else { throw House.Broken(description: "\(moment) the light is \(isLit ? "on" : "off")") }
        let fired = controller.firings.count
        guard fired == firings else { throw House.Broken(description: "\(moment) \(fired) firings, not \(firings)") }
    }
}
