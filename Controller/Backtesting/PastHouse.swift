public import Automation
public import LocalCalendar
import PlugModel
public import PowerHistory
import ProtocolCore

/// A house as its history has it, for rules to run on.
///
/// Its plugs are those that were recorded, there while there are samples of them, and those that only the rules name: these are always
/// there, and on until a rule switches them. A command is carried out at once; what was really switched takes over when it comes.
public struct PastHouse: Sendable {
    let history: PowerHistory
    let zone: ZoneOffsets
    let sun: SunTimes

    /// - Parameters:
    ///   - zone: of the span at hand.
    ///   - sun: likewise; its instants are nanoseconds since 1970.
    public init(_ history: PowerHistory, zone: ZoneOffsets, sun: SunTimes = .unknown) {
        self.history = history
        self.zone = zone
        self.sun = sun
    }

    /// What rules would have done.
    ///
    /// - Parameters:
    ///   - span: milliseconds since 1970, both included.
    ///   - tellsAsides: each edge that did nothing is told too.
    ///   - scripts: those that rules call; nil where what they would ask for does not matter.
    public func run(
        _ rules: [Rule], over span: ClosedRange<Int64>, tellsAsides: Bool = false,
        scripts: (any PastScripts)? = nil
    ) throws(HistoryError) -> BacktestReport {
        var backtest = try Backtest(self, rules, span, tellsAsides: tellsAsides, scripts)
        try backtest.run()
        return backtest.report
    }

    /// The clock on the wall, of which instants are nanoseconds since 1970.
    var localTime: LocalTime {
        let first = LocalTime.Piece(from: Instant(nanoseconds: .min), offset: Int64(zone.initial))
        return LocalTime(
            pieces: [first]
                + zone.transitions.map {
                    LocalTime.Piece(
                        from: Instant(nanoseconds: Int64($0.time) * 1_000_000_000), offset: Int64($0.seconds))
                })
    }

    // MARK: Its plugs

    /// What of a plug rules ask for.
    struct Wanted {
        var isTrigger = false
        var isCommanded = false
        var needsRelay = false
        /// A rule dims it, or asks how bright it is.
        var needsLevel = false
        var needsEnergy = false
        var needsAppliance = false
        /// A condition is about its power.
        var needsPower = false

        /// Nobody records a level: a lamp that rules dim is as bright as it can be before they do, and others have none.
        var level: DimLevel? { needsLevel ? DimLevel(percent: 100) : nil }
    }

    /// The plugs that rules name, as the history calls them, and others as they are written; in the order of their names.
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
            // It may command it, or ask whether it is on.
            want(plug) { ($0.isCommanded, $0.needsRelay) = (true, true) }
        }
        return wanted.sorted { $0.key < $1.key }.map { name, wanted in
            (name, Self.find(name, among: known, over: span), wanted)
        }
    }

    /// As the engine finds plugs: of exactly this name, else the only one that differs in capitals. Of several that bore one name, the
    /// one of which most was recorded in the span, else the one that was measured last.
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

    /// The names of plugs that a trigger needs and nobody recorded, each with the nearest that somebody did.
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
    var isDimming: Bool {
        switch self {
        case .dim, .dimBy: true
        case .turnOn, .turnOff, .toggle, .restore, .wait, .waitUntil, .notify, .run, .webHook, .call: false
        }
    }
}
