public import Backtesting
import Daemon
public import HouseCalendar
import LinuxSystem
public import PlugModel
public import PowerHistory
import Presentation
import ProtocolCore
import RuleChecks
public import RuleFiles
import RuleModel

extension RuleEditor {
    /// Returns the context of a check.
    ///
    /// - Parameters:
    ///   - present: the names and capabilities of the house's plugs.
    ///   - machines: the names of the machines that rules can wake.
    public func context(
        _ present: [(name: String, capabilities: Set<Capability>?)], machines: [String], _ history: PowerHistory?
    ) -> RuleCheckContext {
        RuleCheckContext(
            plugs: RuleCheckContext.plugs(present, in: history), machines: machines, daylight: daylight,
            policy: policy)
    }

    /// Checks a text as `plugctl rules check` does, together with the rules of the other files.
    ///
    /// - Parameter name: the name of the file that would have the text. The actions that leave the house may be those
    ///   of this file.
    /// - Returns: the diagnostics in the order of the text; an error for each action that the editor may not add.
    public func check(
        _ text: String, as name: String, in context: RuleCheckContext, _ snapshot: Snapshot
    ) throws(RuleEditError) -> [Diagnostic] {
        guard text.utf8.count <= Self.textLimit else { throw .tooLarge }
        let file: RuleFile
        do throws(RuleFileError) {
            file = try RuleFile(name: name, text: text)
        } catch {
            return error.allDiagnostics
        }
        let present = files(snapshot).first { $0.name == name }
        // The text comes last, because a name that two files have is reported in the later one.
        let others = snapshot.readings.filter { $0.path != present?.path }
        let own = RulesDirectory.Reading(path: present?.path ?? name, reading: .rules(file.rules))
        let rules = others.flatMap(\.reading.rules)
        let first = rules.count
        var findings = context.findings(rules + file.rules)
        let conflicts = RuleFileSet.conflicts(in: (others + [own]).map { ($0.path, $0.reading) })
        findings += conflicts.filter { $0.path == own.path }.map {
            RuleFinding(.error, rule: first, .name, $0.message, hint: $0.hint)
        }
        if mayEdit { findings += outsideActions(of: present).findings(file.rules, first: first) }
        return file.diagnostics(for: findings, first: first)
    }

    /// The actions of the present file that leave the house. A file that cannot be parsed has none.
    private func outsideActions(of present: File?) -> OutsideActions {
        let text = present.flatMap { try? FileStore().readText($0.path, limit: Self.readLimit) }
        return OutsideActions(text.flatMap { try? RuleFile(name: "", text: $0).rules } ?? [])
    }

    /// Runs the rules of a text over the last days of the history.
    ///
    /// - Parameters:
    ///   - days: the number of days.
    ///   - isStopped: called often; if it returns true, the run ends and the report covers the time until then.
    /// - Throws: ``RuleEditError``, or `HistoryError`.
    public func backtest(
        _ text: String, over days: Int, in history: PowerHistory, isStopped: () -> Bool
    ) throws -> BacktestReport {
        guard text.utf8.count <= Self.textLimit else { throw RuleEditError.tooLarge }
        let rules: [Rule]
        do throws(RuleFileError) {
            rules = try RuleFile(name: "rules", text: text).rules
        } catch {
            throw RuleEditError.faulty(error.allDiagnostics)
        }
        if daylight == nil, let rule = rules.first(where: \.goesBySun) {
            throw RuleEditError.noLocation(rule: rule.name)
        }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        let span = now - Int64(days) * 86_400_000...now
        return try PastHouse(history, over: span, daylight).run(rules, over: span, isStopped: isStopped)
    }
}

extension PastHouse {
    /// Creates the house of this host's time zone.
    ///
    /// - Parameters:
    ///   - span: milliseconds since 1970.
    ///   - daylight: the location of the house; nil if it is unknown.
    public init(_ history: PowerHistory, over span: ClosedRange<Int64>, _ daylight: Daylight?) {
        let (from, to) = (Int(span.lowerBound / 1000), Int(span.upperBound / 1000))
        let zone = ZoneOffsets.local(from: from - 40 * 86_400, to: to + 40 * 86_400)
        let days = Int64(from / 86_400 - 4)...Int64(to / 86_400 + 2)
        let sun = daylight?.times(days: days, zone: zone) { Instant(nanoseconds: $0 * 1_000_000_000) }
        self.init(history, zone: zone, sun: sun ?? .unknown)
    }
}

extension RuleFileReading {
    /// The rules of a valid file.
    var rules: [Rule] {
        switch self {
        case .rules(let rules): rules
        case .script(let script): script.rules
        case .broken: []
        }
    }
}

extension RuleFileError {
    /// The diagnostics, and a last one that states how many further errors exist.
    public var allDiagnostics: [Diagnostic] {
        guard omitted > 0, let last = diagnostics.last else { return diagnostics }
        return diagnostics + [
            Diagnostic(
                file: last.file, place: last.place, message: "\(omitted) more errors follow",
                hint: "correct the listed errors and check again", line: last.line)
        ]
    }
}
