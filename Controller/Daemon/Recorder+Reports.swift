import Automation
import DurableRules
import LinuxSystem
import Metering
import PlugClient
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel

/// Handles reports of plugs and records of rules, and writes to the history.
extension Recorder {
    /// The length of the history that appliance detection reads, in milliseconds. Six hours contain the start of almost
    /// every running appliance.
    private static let warmUp: Int64 = 6 * 3_600_000
    /// The maximum number of samples for appliance detection: four per second. Prevents a plug that measures faster
    /// from filling the memory.
    private static let warmUpLimit = 86_400

    /// Handles an update of the house.
    func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, !isClosing else { return }
        CrashAttribution.during(report.source) {
            for report in seen.pass(report, now: BootClock.now) { handle(report) }
        }
    }

    private func handle(_ report: PlugReport) {
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
            // The plug may still be connected under another name.
            guard !present.values.contains(where: { $0.id == gone.id }) else { return }
            counters[gone.id] = nil
            plan(.disconnected(gone.id))
        case .following, .log: break
        }
    }

    private func count(_ reading: Reading, _ report: PlugReport) {
        guard let (id, boot) = present[report.plug] else { return }
        let at = report.at.milliseconds
        let kept = counters[id, default: CounterSampler()].add(reading, of: id, boot: boot, at: at)
        if let kept { add { $0.counters.append(kept) } }
    }

    private func keep(_ content: StoredEvent.Content, _ report: PlugReport, isTimeKnown: Bool) {
        guard let id = present[report.plug]?.id, !behind.contains(id) else { return }
        let event = StoredEvent(plug: id, content: content, at: report.at.milliseconds, isTimeKnown: isTimeKnown)
        guard !add({ $0.events.append(event) }) else { return }
        if behind.isEmpty {
            complain(
                """
                the history has not been writable for so long that the daemon cannot buffer more events
                hint: after a restart the daemon fetches missing events again, as far as the plugs still have them
                """)
        }
        behind.insert(id)
    }

    /// Handles a record of the rules.
    func note(_ record: RunnerRecord) {
        if let trace = book.record(record.notice, at: record.at.milliseconds, now: BootClock.now) {
            let stored = StoredTrace(trace)
            switch budget.admit(trace, size: stored.json.utf8.count, at: record.at.milliseconds) {
            case .kept: add { $0.traces.append(stored) }
            case .leftOut(let isFirst):
                if isFirst {
                    complain(
                        """
                        rule "\(trace.rule)" has used its \(TraceBudget.bytes >> 20) MiB of traces for today; until midnight UTC it runs without \
                        traces for `rules explain`
                        hint: `plugctl rules explain "\(trace.rule)"` shows why it fires so often
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

    /// Handles the current rules.
    func rulesChanged(_ rules: [Rule]) { book.follow(rules) }

    /// Returns the power that the plug measured in the last six hours, on the controller's clock; empty if it cannot be
    /// read.
    func past(of plug: PlugID) async -> [RecordedPower] {
        let wall = WallTime.now.milliseconds
        // The wall-clock time at which the controller's clock was zero.
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

    /// Writes a batch on the recorder's thread. After a successful write, deletes expired history if ten minutes have
    /// passed since the last deletion.
    func write(_ batch: HistoryBatch) {
        let isForgetting = forgotAt.map { BootClock.now - $0 >= .seconds(600) } ?? true
        let wall = WallTime.now.milliseconds
        Task {
            do {
                try await onThread { history in
                    var sound = batch
                    // A damaged chunk is dropped. Otherwise the whole batch would fail, and so would each retry,
                    // because the plug would send the same chunk again.
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

    /// Deletes expired history. A failure does not affect the written batch. The next attempt follows ten minutes
    /// later.
    private func forget(now: Int64) async {
        forgotAt = BootClock.now
        do {
            try await onThread { try $0.forgetOld(now: now) }
        } catch {
            let hint = (error as? HistoryError)?.hint.map { "\nhint: \($0)" } ?? ""
            if !hasComplainedOfAge { complain("cannot delete expired history: \(error)\(hint)") }
            hasComplainedOfAge = true
        }
    }

    private func written(_ error: (any Error)?) {
        if let error, !queue.isFailing { complain(Self.words(error)) }
        if error == nil, queue.isFailing { complain("the history is writable again") }
        fault = error.map { "\($0)" }
        for answer in queue.ended(stored: error == nil, now: BootClock.now) {
            plan(error == nil ? .stored(answer.window, covered: answer.covered) : .failed(answer.window))
        }
        go()
    }

    private static func words(_ error: any Error) -> String {
        let hint = (error as? HistoryError)?.hint ?? "the daemon retries"
        return "\(error); the rules keep running, and the plugs keep their samples for days\nhint: \(hint)"
    }
}

extension WallTime {
    /// Milliseconds since 1970.
    var milliseconds: Int64 { nanosecondsSince1970 / 1_000_000 }
}
