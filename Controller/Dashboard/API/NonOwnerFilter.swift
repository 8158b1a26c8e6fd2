import Automation
import Daemon
import PowerHistory
import Presentation

/// Filters for users who are not owners. These users see neither the arguments of programs that rules run nor the log
/// messages of scripts. They also see no failure texts, because these can quote arguments, log messages and rule files.
enum NonOwnerFilter {
    static let program = "run a program"
    static let details = "an owner sees the details"

    /// - Parameter words: the description of an action or of its result.
    static func action(_ words: String) -> String { isProgram(words) ? program : words }

    static func isProgram(_ words: String) -> Bool { words.hasPrefix("run ") }
}

extension RuleRecord {
    /// The record for users who are not owners; nil for a log message of a script.
    var forOthers: RuleRecord? {
        guard log == nil else { return nil }
        var record = self
        switch event {
        case "performing", "effect":
            guard effect == "run" else { return record }
            record.what = NonOwnerFilter.program
            record.why = why.map { _ in NonOwnerFilter.details }
        case "callFailed", "scriptEnded", "fileBroken": record.why = why.map { _ in NonOwnerFilter.details }
        default: break
        }
        return record
    }
}

extension RuleStateRecord {
    var forOthers: RuleStateRecord {
        var record = self
        record.actions = actions.map(NonOwnerFilter.action)
        record.fault = fault.map { _ in NonOwnerFilter.details }
        record.scriptFault = scriptFault.map { _ in NonOwnerFilter.details }
        record.failedBecause = failedBecause.map { _ in NonOwnerFilter.details }
        return record
    }
}

extension RuleFaultRecord {
    var forOthers: RuleFaultRecord { RuleFaultRecord(file: file, words: NonOwnerFilter.details, rules: rules) }
}

extension HouseRecord {
    var forOthers: HouseRecord {
        var record = self
        record.rules = rules.map(\.forOthers)
        record.ruleFaults = ruleFaults.map(\.forOthers)
        return record
    }
}

extension StreamMessage {
    /// The message for users who are not owners; nil if it is for owners only.
    var forOthers: StreamMessage? {
        switch self {
        case .house(let record): .house(record.forOthers)
        case .rule(let record): record.forOthers.map { .rule($0) }
        case .rules(let records): .rules(records.map(\.forOthers))
        case .ruleSet(let record):
            .ruleSet(RuleSetRecord(rules: record.rules.map(\.forOthers), faults: record.faults.map(\.forOthers)))
        case .plug, .gone, .readings, .event, .notification: self
        }
    }
}

extension StoredTrace {
    /// The trace for users who are not owners; nil if it is damaged or a later version wrote it.
    var forOthers: StoredTrace? {
        guard var trace = RuleTrace(self) else { return nil }
        trace.steps = trace.steps.filter { !$0.what.hasPrefix("log: ") }.map { step in
            var step = step
            step.what = NonOwnerFilter.action(step.what)
            let quotes = NonOwnerFilter.isProgram(step.what) || step.plug == nil
            if quotes, step.outcome?.hasPrefix("failed") == true { step.outcome = "failed: \(NonOwnerFilter.details)" }
            return step
        }
        return StoredTrace(trace)
    }
}

extension DashboardContext {
    /// True if the user may see the parts that are for owners only.
    var isOwner: Bool { pass?.role == .owner }
}
