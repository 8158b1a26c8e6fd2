import PlugModel
import ProtocolCore

extension RuleEngine {
    /// The maximum number of unfinished firings, per rule and in total. Stops rules that fire faster than they finish
    /// from filling the memory.
    static let maximumRunsOfRule = 64
    static let maximumRuns = 1024
    /// A run whose `wait` ended longer ago than this, while no process ran, is cancelled. A wait for a condition has no
    /// such limit.
    static let longestLate = Duration.seconds(86_400)
    /// How long a run of an earlier process waits for plugs that have not appeared again.
    static let reunion = Duration.seconds(60)
    /// The interval at which a condition on the time is evaluated while a run waits for it.
    static let conditionInterval = Duration.seconds(1)

    /// Runs the actions from a place up to the first one that waits. Only a firing that waited reports
    /// ``RunStep/finished``. Other firings are complete with the last action of the result.
    mutating func perform(
        _ firing: Firing, of index: Int, from first: Int, hasWaited: Bool = false, now: Instant,
        _ actions: inout [Action]
    ) {
        let count = states[index].rule.actions.count
        for place in first..<max(first, count) {
            let action = states[index].rule.actions[place]
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                command(action, at: place, of: index, firing, &actions)
            case .notify, .run, .webHook: effect(action, id: firing.id.part(action: place), firing, &actions)
            case .call(let handler):
                actions.append(.call(ScriptCall(id: firing.id.part(action: place), handler: handler, firing: firing)))
            case .wait(let duration):
                guard duration > .zero else { continue }
                actions.append(.step(firing, .waiting(until: now + duration)))
                return add(
                    Run(number: nextRun, rule: index, firing: firing, next: place, wait: .time(now + duration)))
            case .waitUntil(let condition, let timeout, let end):
                if holds(condition, now: now) { continue }
                let until = now + timeout
                actions.append(.step(firing, .waitingFor(condition, until: until)))
                return add(
                    Run(
                        number: nextRun, rule: index, firing: firing, next: place,
                        wait: .condition(condition, until: until, end)))
            }
        }
        if hasWaited { actions.append(.step(firing, .finished)) }
    }

    // MARK: The list

    mutating func add(_ run: Run) {
        nextRun += 1
        runs.append(run)
        states[run.rule].runs += 1
        if run.condition != nil { waitingChanged(by: 1) }
        runDeadline = sooner(runDeadline, run.deadline)
    }

    private mutating func take(_ place: Int) -> Run {
        let run = runs.remove(at: place)
        states[run.rule].runs -= 1
        if run.condition != nil { waitingChanged(by: -1) }
        return run
    }

    mutating func cancelRuns(of index: Int, _ end: RunStep.RunEnd, _ actions: inout [Action]) {
        while let place = runs.firstIndex(where: { $0.rule == index }) {
            actions.append(.step(take(place).firing, .cancelled(end)))
        }
        findRunDeadline()
    }

    /// Changes the number of runs that wait for a condition. Their power conditions narrow the quiet bands, so the
    /// bands are computed again.
    private mutating func waitingChanged(by change: Int) {
        waitingFor += change
        quietBandsNeedRefresh = true
    }

    mutating func findRunDeadline() { runDeadline = runs.lazy.compactMap(\.deadline).min() }

    // MARK: Resuming

    /// Resumes the runs whose wait has ended, in the order of their start.
    mutating func wakeRuns(now: Instant, _ actions: inout [Action]) {
        guard !runs.isEmpty else { return }
        let isDue = runDeadline.map { $0 <= now } ?? false
        guard isDue || waitingFor > 0 || plugsAppeared else { return }
        plugsAppeared = false
        for number in runs.map(\.number) {
            guard let place = runs.firstIndex(where: { $0.number == number }) else { continue }
            wake(place, now: now, &actions)
        }
        findRunDeadline()
        let isTimed = waitingFor > 0 && runs.contains { $0.condition?.isTimed ?? false }
        if isTimed { runDeadline = sooner(runDeadline, now + Self.conditionInterval) }
    }

    private mutating func wake(_ place: Int, now: Instant, _ actions: inout [Action]) {
        switch runs[place].wait {
        case .turn:
            // The earlier process may have exited after the previous run of the queue ended, or the plugs of this run
            // have appeared only now.
            guard runs[place].isRestored else { return }
            return startNext(runs[place].rule, now: now, &actions)
        case .time(let until):
            guard until <= now else { return }
            if now - until > Self.longestLate {
                let run = take(place)
                actions.append(.step(run.firing, .cancelled(.missed)))
                return startNext(run.rule, now: now, &actions)
            }
            if waitsForPlugs(place, now: now) { return }
        case .condition(let condition, let until, let end):
            if waitsForPlugs(place, now: now) { return }
            if !holds(condition, now: now) {
                guard until <= now else { return }
                actions.append(.step(runs[place].firing, .timedOut(end)))
                switch end {
                case .goOn: break
                case .stop: return startNext(take(place).rule, now: now, &actions)
                }
            }
        }
        let run = take(place)
        perform(run.firing, of: run.rule, from: run.next + 1, hasWaited: true, now: now, &actions)
        startNext(run.rule, now: now, &actions)
    }

    /// Starts the queued runs of the rule in order, until a run waits. Does nothing while a run of the rule is in
    /// progress.
    mutating func startNext(_ index: Int, now: Instant, _ actions: inout [Action]) {
        // Each pass removes a run from the queue, so the loop ends.
        while !runs.contains(where: { $0.rule == index && $0.wait != .turn }),
            let place = runs.firstIndex(where: { $0.rule == index }), !waitsForPlugs(place, now: now)
        {
            let run = take(place)
            perform(run.firing, of: index, from: 0, hasWaited: true, now: now, &actions)
        }
    }

    /// Returns true if the run of an earlier process must wait for its plugs. This happens once per run, for at most
    /// ``reunion``, before the run resumes or its condition is evaluated.
    private mutating func waitsForPlugs(_ place: Int, now: Instant) -> Bool {
        guard runs[place].isRestored else { return false }
        let run = runs[place]
        // If the wait has timed out and the run continues anyway, the plugs of its condition do not matter.
        var isOver = false
        if case .condition(_, let until, .goOn) = run.wait { isOver = until <= now }
        let coming = states[run.rule].rule.actions.dropFirst(isOver ? run.next + 1 : run.next)
        let isMissing = coming.lazy.flatMap(\.askedPlugs).contains { plugs.find($0) == .notPresent }
        let until = run.plugsUntil ?? now + Self.reunion
        guard isMissing, now < until else {
            (runs[place].isRestored, runs[place].plugsUntil) = (false, nil)
            return false
        }
        runs[place].plugsUntil = until
        return true
    }
}

extension RuleAction {
    /// The plugs that must be present for the action: those that it commands, or those of its condition.
    fileprivate var askedPlugs: [String] {
        switch self {
        case .waitUntil(let condition, _, _): condition.plugs
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .notify, .run, .webHook, .call: plugs
        }
    }
}
