import Automation
import LinuxClocks
import Metering
import PlugClient
import PlugModel
import PowerHistory
import ProtocolCore

/// What is heard of the house, and what becomes of it.
extension Recorder {
    /// Milliseconds: an appliance that runs now has begun in them.
    private static let warmUp: Int64 = 6 * 3_600_000
    /// Samples; four a second. Stops a plug that measures faster than any from filling the memory.
    private static let warmUpLimit = 86_400

    func take(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, !isClosing else { return }
        PlugInHand.during(report.source) {
            for report in seen.pass(report, now: BootClock.now) { take(report) }
        }
    }

    private func take(_ report: PlugReport) {
        switch report.update {
        case .connected(let description):
            present[report.plug] = (description.id, description.boot)
            add { $0.names[description.id] = report.plug }
            plan(.connected(description.id, boot: description.boot))
        case .snapshot(let state), .state(let state):
            if let reading = state.reading { count(reading, report) }
        case .event(let event, let age): keep(.event(event), report, isTimeKnown: age != nil)
        case .gap(let gap): keep(.gap(gap), report, isTimeKnown: false)
        case .disconnected:
            guard let gone = present.removeValue(forKey: report.plug) else { return }
            // Under another name it may be here.
            guard !present.values.contains(where: { $0.id == gone.id }) else { return }
            counters[gone.id] = nil
            plan(.disconnected(gone.id))
        case .following, .log: break
        }
    }

    private func count(_ reading: Reading, _ report: PlugReport) {
        guard let (id, boot) = present[report.plug] else { return }
        let at = report.at.milliseconds
        let kept = counters[id, default: CounterCourse()].take(reading, of: id, boot: boot, at: at)
        if let kept { add { $0.counters.append(kept) } }
    }

    private func keep(_ content: StoredEvent.Content, _ report: PlugReport, isTimeKnown: Bool) {
        guard let id = present[report.plug]?.id, !behind.contains(id) else { return }
        let event = StoredEvent(plug: id, content: content, at: report.at.milliseconds, isTimeKnown: isTimeKnown)
        guard !add({ $0.events.append(event) }) else { return }
        if behind.isEmpty {
            complain(
                """
                the history has not been written for so long that no more events can wait for it
                hint: they are asked for again when the daemon is started anew, as far as the plugs have them
                """)
        }
        behind.insert(id)
    }

    /// A rule did something.
    func note(_ record: RunnerRecord) {
        if let trace = book.take(record.notice, at: record.at.milliseconds, now: BootClock.now) {
            let stored = StoredTrace(trace)
            switch budget.take(trace, size: stored.json.utf8.count, at: record.at.milliseconds) {
            case .kept: add { $0.traces.append(stored) }
            case .leftOut(let isFirst):
                if isFirst {
                    complain(
                        """
                        rule "\(trace.rule)" has filled its \(TraceBudget.bytes >> 20) MiB of today: what it does until midnight UTC is \
                        done and not kept for `rules explain`
                        hint: see why it fires so often: plugctl rules explain "\(trace.rule)"
                        """)
                }
                return
            }
        }
        guard case .firing(let firing) = record.notice else { return }
        let stored = StoredFiring(
            at: record.at.milliseconds, rule: firing.rule, plug: firing.cause.plug.flatMap { present[$0]?.id },
            cause: "\(firing.cause)")
        add { $0.firings.append(stored) }
    }

    /// The rules from now on.
    func rulesChanged(_ rules: [Rule]) { book.follow(rules) }

    /// What the plug measured in the hours before, on the controller's clock; nothing where it cannot be read.
    func past(of plug: PlugID) async -> [RecordedPower] {
        let wall = WallTime.now.milliseconds
        // The wall's time of the controller's zero, as it is now.
        let origin = wall - BootClock.now.nanoseconds / 1_000_000
        let past = try? await onThread { history in
            var past: [RecordedPower] = []
            _ = try history.samples(
                of: plug, from: wall - Self.warmUp, to: wall, atMost: Self.warmUpLimit
            ) { milliseconds, sample in
                past.append(RecordedPower(milliseconds: milliseconds - origin, deciwatts: sample.deciwatts))
            }
            return past
        }
        return past ?? []
    }

    @discardableResult
    private func add(_ change: (inout HistoryBatch) -> Void) -> Bool {
        let isAdded = queue.add(now: BootClock.now, change)
        go()
        return isAdded
    }

    // MARK: Writing

    func write(_ batch: HistoryBatch) {
        let isForgetting = forgotAt.map { BootClock.now - $0 >= .seconds(600) } ?? true
        let wall = WallTime.now.milliseconds
        Task {
            do {
                try await onThread { history in
                    var sound = batch
                    // A plug that sends damaged chunks sends them again: what can be read of the others is not to wait for it.
                    sound.chunks.removeAll { (try? $0.chunk.samples()) == nil }
                    try history.record(sound)
                }
                written(nil)
                if isForgetting { await forget(now: wall) }
            } catch {
                written(error)
            }
        }
    }

    /// What is stored is stored: what cannot be forgotten now is tried again in the next round.
    private func forget(now: Int64) async {
        forgotAt = BootClock.now
        do {
            try await onThread { try $0.forgetOld(now: now) }
        } catch {
            let hint = (error as? HistoryError)?.hint.map { "\nhint: \($0)" } ?? ""
            if !hasComplainedOfAge { complain("what is old cannot be taken out of the history: \(error)\(hint)") }
            hasComplainedOfAge = true
        }
    }

    private func written(_ error: (any Error)?) {
        if let error, !queue.isFailing { complain(Self.words(error)) }
        if error == nil, queue.isFailing { complain("the history is written again") }
        fault = error.map { "\($0)" }
        for answer in queue.ended(stored: error == nil, now: BootClock.now) {
            plan(error == nil ? .stored(answer.window, covered: answer.covered) : .failed(answer.window))
        }
        go()
    }

    private static func words(_ error: any Error) -> String {
        let hint = (error as? HistoryError)?.hint ?? "it is tried again"
        return "\(error); meanwhile the rules go on, and the plugs keep their samples for days\nhint: \(hint)"
    }
}

extension WallTime {
    /// Since 1970.
    var milliseconds: Int64 { nanosecondsSince1970 / 1_000_000 }
}
