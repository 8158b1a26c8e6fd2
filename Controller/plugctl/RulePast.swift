import Backtesting
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation
import ProtocolCore
import RuleEditing
import RuleModel

/// The part of the history over which rules run.
struct RulePast {
    let house: PastHouse
    /// Milliseconds since 1970, both ends included.
    let span: ClosedRange<Int64>
    var zone: ZoneOffsets { house.zone }
    private let plugs: [HistoryPlug]
    private let knowsSun: Bool

    /// The longest span in milliseconds: 200 years, for which the calendar is exact.
    private static let longest: Int64 = 200 * 366 * 86_400_000

    /// Prepares a run of the rules over a time window.
    ///
    /// - Parameter window: The time window; without one, the span is the whole recorded time of the rules' plugs.
    init(
        _ history: PowerHistory, rules: [Rule], _ scripts: (any PastScripts)?, window: WindowOptions,
        place: LocationOptions
    ) throws {
        let plugs = try history.plugs()
        if window.last != nil || window.from != nil {
            span = window.span(default: .seconds(86_400))
        } else {
            let named = Self.plugs(of: rules, scripts, among: plugs)
            let spans = (named.isEmpty ? plugs : named).compactMap(\.span)
            guard let first = spans.map(\.lowerBound).min(), let last = spans.map(\.upperBound).max() else {
                throw CLIError(
                    "the history has no samples of the rules' plugs\nhint: `plugctl history` lists the recorded plugs")
            }
            span = max(first, last - Self.longest)...last
        }
        self.plugs = plugs
        let daylight = try place.read()
        knowsSun = daylight != nil
        house = PastHouse(history, over: span, daylight)
    }

    init(_ history: PowerHistory, over span: ClosedRange<Int64>, place: LocationOptions) throws {
        self.span = span
        plugs = try history.plugs()
        let daylight = try place.read()
        knowsSun = daylight != nil
        house = PastHouse(history, over: span, daylight)
    }

    /// Reports the plugs of triggers that the history does not have. Throws an error if no rule remains that could
    /// fire.
    func checkNames(of rules: [Rule]) throws {
        let missing = try house.missing(for: rules, over: span)
        for (rule, plug, nearest) in missing {
            let hint = nearest.map { "did you mean \"\($0)\"?" } ?? "`plugctl history` lists the recorded plugs"
            printError("the history has no samples of \"\(plug)\", which the rule \"\(rule)\" uses\nhint: \(hint)")
        }
        let names = Set(missing.map(\.plug))
        let canFire = rules.contains { rule in
            rule.triggers.contains { trigger in trigger.plug.map { !names.contains($0) } ?? true }
        }
        guard canFire || rules.isEmpty else {
            throw CLIError("no rule can fire: the history has no samples of their plugs")
        }
    }

    /// Throws if a rule depends on the sun and the location of the house is unknown.
    func checkSun(of rules: [Rule]) throws {
        guard !knowsSun, let rule = rules.first(where: \.goesBySun) else { return }
        throw CLIError(
            """
            \(rule.name) uses sunrise or sunset, but the location of the house is not set
            hint: use --location 52.52,13.40, or write to ~/.config/smartplug/location.toml: [location], latitude = 52.52, \
            longitude = 13.40
            """)
    }

    func recordedPlugs(of rules: [Rule], _ scripts: (any PastScripts)?) -> [HistoryPlug] {
        Self.plugs(of: rules, scripts, among: plugs)
    }

    private static func plugs(
        of rules: [Rule], _ scripts: (any PastScripts)?, among known: [HistoryPlug]
    ) -> [HistoryPlug] {
        let named =
            rules.flatMap { $0.triggers.compactMap(\.plug) + $0.actions.flatMap(\.plugs) }
            + (scripts.map { $0.plugs + $0.words } ?? [])
        let wanted = Set(named.map { $0.lowercased() })
        return known.filter { wanted.contains($0.title.lowercased()) && $0.span != nil }
    }
}

extension CLIError {
    /// Returns the error for a rule name that does not exist.
    ///
    /// - Parameter known: The names of the existing rules.
    static func unknownRule(_ name: String, among known: [String]) -> CLIError {
        let nearest = Suggestion.nearest(to: name, among: known)
        let hint =
            nearest.map { "did you mean \"\($0)\"?" }
            ?? (known.isEmpty ? "no rule has fired yet" : "the rules are: \(known.joined(separator: ", "))")
        return CLIError("no rule is named \"\(name)\"\nhint: \(hint)")
    }
}
