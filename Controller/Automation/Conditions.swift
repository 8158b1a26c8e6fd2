import PlugModel
import ProtocolCore
import RuleModel

extension HouseState {
    func holds(_ condition: Condition, now: Instant) -> Bool {
        switch condition {
        case .time(let window): return holds(window, now: now)
        case .weekdays(let days): return localTime?.day(at: now).map { days.contains(Weekdays(day: $0)) } ?? false
        case .relay(let plug, let on): return plugs.find(plug).index.map { plugs[$0].relayOn == on } ?? false
        case .level(let plug, let bound):
            return plugs.find(plug).index.flatMap { plugs[$0].level }.map(bound.holds) ?? false
        case .activePower(let plug, let bound):
            guard let index = plugs.find(plug).index, self[index].meter.hasReading else { return false }
            return bound.holds(self[index].meter.activePower)
        case .present(let plug, let isPresent): return (plugs.find(plug) != .notPresent) == isPresent
        case .all(let parts): return parts.allSatisfy { holds($0, now: now) }
        case .any(let parts): return parts.contains { holds($0, now: now) }
        case .not(let part): return !holds(part, now: now)
        }
    }

    private func holds(_ window: DailyWindow, now: Instant) -> Bool {
        guard let time = localTime else { return false }
        if let (after, before) = window.clock {
            return time.timeOfDay(at: now).map { DailyWindow.contains($0, after: after, before: before) } ?? false
        }
        guard let today = time.day(at: now) else { return false }
        // An offset can move an end of the window up to a day away from its date, and the window can end on the next
        // date. Windows that begin today, on one of the three previous days or on the next day can therefore contain
        // `now`.
        return (today - 3...today + 1).contains { day in
            guard let (from, until) = span(of: window, on: day, time) else { return false }
            return from <= now && now < until
        }
    }

    /// Returns the start and end of the window that begins on a day; nil if the sun's times are unknown. Each end
    /// belongs to the date of its sun event, even if the offset moves its instant to a different date or the sun sets
    /// after midnight.
    private func span(of window: DailyWindow, on day: Int64, _ time: LocalTime) -> (from: Instant, until: Instant)? {
        func instant(_ point: DailyWindow.Point, _ day: Int64) -> Instant? {
            switch point {
            case .clock(let clock): time.instant(of: day &* 86_400 &+ Int64(clock.second))
            case .sun(let event, let offset): sun.light(event, day: day).map { $0 + offset }
            }
        }
        guard let from = instant(window.after, day), let until = instant(window.before, day) else { return nil }
        if window.goesOverMidnight(isEarlier: until <= from) {
            return instant(window.before, day + 1).map { (from, $0) }
        }
        return (from, until)
    }

    // MARK: While a run waits

    /// Narrows the plug's quiet band to the readings that do not change the result of a power condition.
    func narrow(_ band: inout QuietBand, _ plug: Int, _ condition: Condition) {
        switch condition {
        case .activePower(let written, let bound):
            guard plugs.find(written).index == plug else { return }
            let holds = bound.holds(self[plug].meter.activePower)
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
