import PlugModel
import ProtocolCore

extension RuleEngine {
    func holds(_ condition: Condition, now: Instant) -> Bool {
        switch condition {
        case .time(let window): return holds(window, now: now)
        case .weekdays(let days): return localTime?.day(at: now).map { days.contains(Weekdays(day: $0)) } ?? false
        case .relay(let plug, let on): return plugs.find(plug).index.map { plugs[$0].relayOn == on } ?? false
        case .level(let plug, let bound):
            return plugs.find(plug).index.flatMap { plugs[$0].level }.map(bound.holds) ?? false
        case .activePower(let plug, let bound):
            guard let index = plugs.find(plug).index, meters[index].hasReading else { return false }
            return bound.holds(meters[index].activePower)
        case .present(let plug, let isPresent): return (plugs.find(plug) != .notPresent) == isPresent
        case .all(let parts): return parts.allSatisfy { holds($0, now: now) }
        case .any(let parts): return parts.contains { holds($0, now: now) }
        case .not(let part): return !holds(part, now: now)
        }
    }

    private func holds(_ window: DailyWindow, now: Instant) -> Bool {
        guard let time = localTime?.timeOfDay(at: now), let day = localTime?.day(at: now),
            let after = timeOfDay(window.after, of: day), let before = timeOfDay(window.before, of: day)
        else { return false }
        return DailyWindow.contains(time, after: after, before: before)
    }

    /// Of the sun that day; nil where it neither rises nor sets, or nobody knows.
    private func timeOfDay(_ point: DailyWindow.Point, of day: Int64) -> TimeOfDay? {
        switch point {
        case .clock(let time): time
        case .sun(let event, let offset):
            sun.instant(of: event, day: day).flatMap { localTime?.timeOfDay(at: $0 + offset) }
        }
    }

    // MARK: While a run waits

    /// Leaves of the band what keeps every power condition that is waited for as it is.
    func narrowForRuns(_ band: inout QuietBand, _ plug: Int) {
        for run in runs {
            if let condition = run.condition { narrow(&band, plug, condition) }
        }
    }

    private func narrow(_ band: inout QuietBand, _ plug: Int, _ condition: Condition) {
        switch condition {
        case .activePower(let written, let bound):
            guard plugs.find(written).index == plug else { return }
            let holds = bound.holds(meters[plug].activePower)
            switch bound {
            case .above(let watts): if holds { band.atLeast(watts.nextUp) } else { band.atMost(watts) }
            case .below(let watts): if holds { band.atMost(watts.nextDown) } else { band.atLeast(watts) }
            }
        case .all(let parts), .any(let parts): for part in parts { narrow(&band, plug, part) }
        case .not(let part): narrow(&band, plug, part)
        case .time, .weekdays, .relay, .level, .present: break
        }
    }
}
