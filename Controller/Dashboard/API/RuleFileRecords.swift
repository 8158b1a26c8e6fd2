import Backtesting
import LinuxSystem
import RuleEditing
import RuleFiles

/// A rule file or a script.
struct RuleFileRecord: Encodable {
    var file: String
    var path: String
    /// rules or script.
    var kind: String
    var rules: [String]
    /// The reason why the present content is not active; missing if it is active.
    var fault: String?
    var editable: Bool
    /// The reason why the file can only be edited directly; missing if that depends only on the daemon's options.
    var obstacle: String?

    init(_ file: RuleEditor.File, mayEdit: Bool) {
        (self.file, path, kind) = (file.name, file.path, file.isScript ? "script" : "rules")
        (rules, fault, obstacle) = (file.rules, file.fault, file.obstacle)
        editable = mayEdit && file.obstacle == nil
    }
}

/// The rule files, and whether they may be edited here.
struct RuleFileListRecord: Encodable {
    /// True if the daemon permits editing.
    var editing: Bool
    /// The directory of new files; missing if no file can be created.
    var directory: String?
    var files: [RuleFileRecord]
}

/// The text of a rule file.
struct RuleFileTextRecord: Encodable {
    var file: RuleFileRecord
    var text: String
    var version: String

    init(_ content: RuleEditor.Content, mayEdit: Bool) {
        file = RuleFileRecord(content.file, mayEdit: mayEdit)
        (text, version) = (content.text, content.version)
    }
}

/// The findings about a text.
struct RuleCheckRecord: Encodable {
    var findings: [RuleFindingRecord]

    init(_ diagnostics: [Diagnostic]) { findings = diagnostics.map { RuleFindingRecord($0) } }
}

/// A fault with the findings about the rejected text.
struct FaultyTextRecord: Encodable {
    var error: String
    var hint: String?
    var findings: [RuleFindingRecord]
}

/// A backtest of a text.
struct BacktestAnswerRecord: Encodable {
    /// The maximum number of firings in an answer, each with its steps. All firings are counted.
    static let limit = 500

    /// The begin and the end of the covered time: ISO 8601, UTC.
    var from: String
    var to: String
    /// False if the work limit ended the run before the present time.
    var complete: Bool
    /// The plugs that the rules name but the history does not have.
    var unrecorded: [String]
    /// The lines of `plugctl rules backtest --json`.
    var lines: [BacktestRecord]

    init(_ report: BacktestReport, complete: Bool) {
        from = WallTime(millisecondsSince1970: report.span.lowerBound).iso8601()
        to = WallTime(millisecondsSince1970: report.span.upperBound).iso8601()
        self.complete = complete
        unrecorded = report.unrecorded
        lines = BacktestRecord.records(of: report, limit: Self.limit)
    }
}
