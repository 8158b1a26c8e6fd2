import Metering
import PlugModel
import ProtocolCore
import SimulatedLAN

/// The invariants between a plug and its followers.
extension SessionHouse {
    // MARK: After every delivery

    /// Checks the order and completeness of events, the age of the last one, and fetched samples.
    func check() throws {
        if let violation = plug.truth.violation { throw House.Broken(description: violation) }
        for (id, controller) in controllers {
            if let violation = controller.violation { throw House.Broken(description: violation) }
            let now = lan.clock(of: id)
            if let heard = controller.lastAge, heard.at == now {
                try checkAge(heard.event, heard.age, heard.uncertainty)
            }
            if let last = controller.lastFetch, last.at == now { try checkSamples(last.fetch) }
        }
    }

    private func checkAge(_ event: PlugEvent, _ age: Duration?, _ uncertainty: Duration) throws {
        guard let age, event.boot == plug.boot else { return }
        // The controller subtracts the uncertainty of the plug's clock from the age. Its estimate of this clock may be
        // wrong by the uncertainty in both directions.
        let truth = lan.clock(of: house.plugs["Lamp"]!) - event.time
        let least = truth - uncertainty * 2 - .milliseconds(1)
        guard (least...truth + .milliseconds(1)).contains(age) else {
            throw House.Broken(description: "event \(event.sequence) is \(truth) old, not \(age)")
        }
    }

    private func checkSamples(_ fetch: SampleFetch) throws {
        let taken = (plug.truth.samples[fetch.boot] ?? []).filter { fetch.range.contains($0.milliseconds) }
        let certain = { (sample: Sample) in !plug.truth.doubtful.contains(sample) }
        guard fetch.samples.filter(certain) == taken.filter(certain), Set(fetch.samples).isSubset(of: taken) else {
            throw House.Broken(
                description: "the fetched samples in \(fetch.range) are not the \(taken.count) measured ones")
        }
    }

    // MARK: At the end

    /// Checks that every event was received once or lies in a gap, that each acknowledged command had the effect that
    /// its answer names, and that the last known state is the plug's.
    func checkOutcome() throws {
        for (id, controller) in controllers {
            let database = controller.database
            guard database.cursor == plug.truth.lastSequence else {
                throw House.Broken(description: "received \(database.cursor) of \(plug.truth.lastSequence) events")
            }
            guard database.beginnings.isEmpty || plug.truth.hadBadFlash else {
                throw House.Broken(description: "following started again, but the plug kept its id")
            }
            try checkEvents(database)
            for gap in database.gaps { try checkGap(gap) }
            try checkCommands(database)
            try checkState(controller, now: lan.clock(of: id))
        }
    }

    private func checkEvents(_ database: Database) throws {
        let events = plug.truth.events
        for event in database.seen where events[event.sequence] != event {
            throw House.Broken(description: "event \(event.sequence) differs from the recorded one")
        }
        let seen = Set(database.seen.map(\.sequence))
        let gaps = database.gaps.map(\.gap)
        let isUnknown = gaps.contains { $0.reason == .unknownCursor }
        for sequence in events.keys.sorted() {
            let lost =
                gaps.contains { $0.reason != .unknownCursor && ($0.from...$0.to).contains(sequence) }
                || database.beginnings.contains { $0.last < sequence && sequence <= $0.after }
            // If the plug continued with lower numbers than it had used, events may arrive that a gap reported as lost.
            if plug.truth.forgotten.contains(sequence) || !plug.truth.forgotten.isEmpty && seen.contains(sequence) {
                continue
            }
            // A plug that does not know the cursor reports all earlier events as unknown.
            let isTold = lost || isUnknown && !seen.contains(sequence)
            guard seen.contains(sequence) != isTold else {
                let story = "seen \(seen.contains(sequence)), in a gap \(lost); gaps \(gaps)"
                throw House.Broken(description: "event \(sequence): \(story)")
            }
        }
    }

    /// Checks that every gap has the cause that it names. A killed process is not a cause of gaps.
    private func checkGap(_ reported: Database.ReportedGap) throws {
        let gap = reported.gap
        guard let boot = reported.boot, let lives = plug.truth.lives[boot], let first = lives.last else {
            throw House.Broken(description: "a gap was reported outside a session")
        }
        switch gap.reason {
        case .powerLost:
            // If numbers were skipped twice, the journal keeps only the last skipped range, and drops the events
            // before the first one.
            guard
                lives.contains(where: { gap.from < $0 && gap.to < $0 })
                    || gap.from < first && (isOverwritten(gap, in: boot) || plug.truth.hadBadFlash)
            else {
                throw House.Broken(description: "\(gap) in a boot whose lives began with \(lives)")
            }
        case .overwritten:
            // If numbers were skipped twice, the journal keeps only the last skipped range, and drops the events
            // before the first one.
            guard isOverwritten(gap, in: boot) || plug.truth.hadBadFlash else {
                throw House.Broken(description: "\(gap), but the ring of \(ring) events has not overwritten it")
            }
        case .storageFailed, .unknownCursor:
            guard plug.truth.hadBadFlash else { throw House.Broken(description: "\(gap), but flash worked") }
        case .unknown, .factoryReset: throw House.Broken(description: "\(gap)")
        }
    }

    private func isOverwritten(_ gap: Gap, in boot: BootID) -> Bool {
        ring < 100 && plug.truth.events.values.count { $0.sequence > gap.to && $0.boot == boot } >= ring
    }

    private func checkCommands(_ database: Database) throws {
        guard database.outstanding.isEmpty else { throw House.Broken(description: "a command was never answered") }
        for (request, answer) in database.acknowledged {
            guard case .done(_, let event) = answer.outcome else {
                throw House.Broken(description: "a command was refused: \(answer.outcome)")
            }
            let effects = effects(of: request).filter { $0.boot == answer.boot }.map(\.sequence).sorted()
            // Without its mirror the plug forgot its requests, as after a power cut.
            let forgot = answer.boot.flatMap { plug.truth.lives[$0] }.map { $0.count > 1 } ?? false
            guard effects == (event.map { [$0] } ?? []) || forgot && event.map(effects.contains) ?? true else {
                throw House.Broken(description: "a command with event \(event ?? 0) has \(effects.count) effects")
            }
        }
    }

    func effects(of request: RequestID) -> [PlugEvent] {
        plug.truth.events.values.filter {
            guard case .relayChanged(_, cause: .controller(_, request, _)) = $0.kind else { return false }
            return true
        }
    }

    private func checkState(_ controller: FollowingController, now: Instant) throws {
        guard let held = controller.heldState, let state = plug.machine?.state else {
            throw House.Broken(description: "\(controller.name) is not connected")
        }
        guard held.relayOn == state.relayOn, held.level == state.level, state.relayOn == plug.relayOn else {
            throw House.Broken(description: "\(controller.name) holds \(held), the plug \(state)")
        }
        guard let reading = held.reading, let newest = state.reading else {
            throw House.Broken(description: "the plug or \(controller.name) has no reading")
        }
        let interval = controller.stateOptions.maximumInterval ?? PlugWire.defaultReadingInterval
        let moved = abs(Int64(newest.deciwatts) - Int64(reading.deciwatts)) * 100
        guard newest.time - reading.time <= interval + .seconds(3),
            moved <= Int64(controller.stateOptions.deadBandMilliwatts) || newest.time - reading.time <= .seconds(3)
        else { throw House.Broken(description: "\(controller.name) holds \(reading), the plug \(newest)") }
    }
}
