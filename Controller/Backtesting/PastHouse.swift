public import HouseCalendar
import PlugModel
public import PowerHistory
import ProtocolCore
public import RuleModel

/// A house as its history recorded it, on which rules can run.
///
/// It contains the recorded plugs and the plugs that only the rules name. A recorded plug is present while it has
/// samples; if it has no sample in the span, it is always present. A plug that only the rules name is always present,
/// and on until a rule switches it. A command takes effect at once, and lasts until the next recorded switching of the
/// plug.
public struct PastHouse: Sendable {
    let history: PowerHistory
    /// The time zone, with its transitions in the span.
    public let zone: ZoneOffsets
    let sun: SunTimes

    /// Creates a house.
    ///
    /// - Parameters:
    ///   - zone: The time zone, with its transitions in the span.
    ///   - sun: The times of sunrise and sunset in the span; its instants are nanoseconds since 1970.
    public init(_ history: PowerHistory, zone: ZoneOffsets, sun: SunTimes = .unknown) {
        self.history = history
        self.zone = zone
        self.sun = sun
    }

    /// Runs rules over a span.
    ///
    /// - Parameters:
    ///   - span: Milliseconds since 1970, both ends included.
    ///   - tellsAsides: True if the report lists held-back edges and near misses.
    ///   - scripts: The scripts that rules call; nil to report only the firings of such rules.
    ///   - isStopped: Called often. If it returns true, the run ends, and the report's span ends at the reached time.
    /// - Throws: ``HistoryError``.
    public func run(
        _ rules: [Rule], over span: ClosedRange<Int64>, tellsAsides: Bool = false,
        scripts: (any PastScripts)? = nil, isStopped: () -> Bool = { false }
    ) throws(HistoryError) -> BacktestReport {
        var backtest = try Backtest(self, rules, span, tellsAsides: tellsAsides, scripts)
        try backtest.run(isStopped)
        return backtest.report
    }

    /// The local time, with instants as nanoseconds since 1970.
    var localTime: LocalTime {
        let first = LocalTime.Piece(from: Instant(nanoseconds: .min), offset: Int64(zone.initial))
        return LocalTime(
            pieces: [first]
                + zone.transitions.map {
                    LocalTime.Piece(
                        from: Instant(nanoseconds: Int64($0.time) * 1_000_000_000), offset: Int64($0.seconds))
                })
    }

    // MARK: Plugs

    /// The properties of a plug that rules need.
    struct Wanted {
        var isTrigger = false
        var isCommanded = false
        var needsRelay = false
        /// True if a rule dims the plug or has a condition on its brightness.
        var needsLevel = false
        var needsEnergy = false
        var needsAppliance = false
        /// True if a rule has a condition on the plug's power.
        var needsPower = false

        /// The level at the beginning; nil without a dimmer. Levels are not recorded: a lamp that rules dim begins at
        /// full brightness.
        var level: DimLevel? { needsLevel ? DimLevel(percent: 100) : nil }
    }

    /// Returns the plugs that rules name, sorted by name: with the name in the history, or as written if the history
    /// does not have the plug.
    func wanted(
        by rules: [Rule], _ scripts: (any PastScripts)?, among known: [HistoryPlug], over span: ClosedRange<Int64>
    ) -> [(name: String, plug: HistoryPlug?, Wanted)] {
        var wanted: [String: Wanted] = [:]
        func want(_ written: String, _ change: (inout Wanted) -> Void) {
            change(&wanted[Self.find(written, among: known, over: span)?.title ?? written, default: Wanted()])
        }
        func want(_ condition: Condition) {
            switch condition {
            case .time, .weekdays: break
            case .relay(let plug, _): want(plug) { $0.needsRelay = true }
            case .level(let plug, _): want(plug) { ($0.needsRelay, $0.needsLevel) = (true, true) }
            case .activePower(let plug, _): want(plug) { $0.needsPower = true }
            case .present(let plug, _): want(plug) { _ in }
            case .all(let parts), .any(let parts): parts.forEach(want)
            case .not(let part): want(part)
            }
        }
        for rule in rules {
            for trigger in rule.triggers {
                guard let plug = trigger.plug else { continue }
                want(plug) { wanted in
                    wanted.isTrigger = true
                    switch trigger {
                    case .activeEnergy: wanted.needsEnergy = true
                    case .appliance: wanted.needsAppliance = true
                    case .activePower, .activePowerStays, .button, .relay, .lost, .back, .protection, .schedule, .rule,
                        .timer:
                        break
                    }
                }
            }
            rule.conditions.forEach(want)
            for action in rule.actions {
                for plug in action.plugs {
                    want(plug) { wanted in
                        (wanted.isCommanded, wanted.needsRelay) = (true, true)
                        if action.isDimming { wanted.needsLevel = true }
                    }
                }
                if case .waitUntil(let condition, _, _) = action { want(condition) }
            }
        }
        let words = scripts?.words.filter { Self.find($0, among: known, over: span) != nil } ?? []
        for plug in (scripts?.plugs ?? []) + words {
            // The script may command the plug or read its state.
            want(plug) { ($0.isCommanded, $0.needsRelay) = (true, true) }
        }
        return wanted.sorted { $0.key < $1.key }.map { name, wanted in
            (name, Self.find(name, among: known, over: span), wanted)
        }
    }

    /// Finds a plug as the engine does: by its exact name, otherwise by the only name that matches when case is
    /// ignored. Nil if no name matches or several do. If several plugs had the same name, the one with the most
    /// recorded time in the span wins; if none has samples in the span, the one with the newest sample wins.
    static func find(_ written: String, among known: [HistoryPlug], over span: ClosedRange<Int64>) -> HistoryPlug? {
        let exact = known.filter { $0.title == written }
        let found = exact.isEmpty ? known.filter { $0.title.lowercased() == written.lowercased() } : exact
        guard Set(found.map(\.title)).count == 1 else { return nil }
        func rank(_ plug: HistoryPlug) -> (Int64, Int64) {
            guard let recorded = plug.span else { return (.min, .min) }
            let shared = min(recorded.upperBound, span.upperBound) - max(recorded.lowerBound, span.lowerBound)
            return (max(-1, shared), recorded.upperBound)
        }
        return found.max { rank($0) < rank($1) }
    }

    /// Returns the plugs that a trigger needs but the history does not have, each with the most similar name in the
    /// history, or nil if no name is similar.
    public func missing(
        for rules: [Rule], over span: ClosedRange<Int64>
    ) throws(HistoryError) -> [(rule: String, plug: String, nearest: String?)] {
        let known = try history.plugs()
        return rules.flatMap { rule in
            rule.triggers.compactMap(\.plug).filter { Self.find($0, among: known, over: span) == nil }.map { plug in
                (rule.name, plug, Suggestion.nearest(to: plug, among: known.map(\.title)))
            }
        }
    }
}

extension RuleAction {
    /// True if the action changes the brightness of a lamp.
    var isDimming: Bool {
        switch self {
        case .dim, .dimBy: true
        case .turnOn, .turnOff, .toggle, .restore, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: false
        }
    }
}
