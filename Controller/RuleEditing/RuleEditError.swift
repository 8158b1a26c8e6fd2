public import LinuxSystem
public import RuleFiles

/// The reasons why a rule file cannot be read or changed by the editor.
public enum RuleEditError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The daemon was started without permission to edit rule files.
    case off
    /// The daemon follows no rule file of this name.
    case unknown(String)
    /// The daemon follows several rule files of this name, in different directories.
    case ambiguous(String)
    /// The file can only be edited directly, for the given reason.
    case readOnly(String, reason: String)
    /// The name of a new file is not valid.
    case invalidName
    /// A file of this name already exists.
    case exists(String)
    /// The daemon follows no directory in which a file could be created.
    case noDirectory
    /// The file has changed since it was read.
    case changed(String)
    /// The text has more than ``RuleEditor/textLimit`` bytes.
    case tooLarge
    /// The text has errors. The diagnostics also contain the warnings.
    case faulty([Diagnostic])
    /// The rules use sunrise or sunset, and the location of the house is unknown. The associated value is the rule.
    case noLocation(rule: String)
    /// A file operation failed.
    case file(FileError)

    /// The message for the user, without the hint.
    public var description: String {
        switch self {
        case .off: "the daemon does not permit editing rule files"
        case .unknown(let name): "no rule file is called \"\(name)\""
        case .ambiguous(let name): "several rule files are called \"\(name)\""
        case .readOnly(let name, let reason): "\(name) cannot be edited here: \(reason)"
        case .invalidName: "the name of the file is not valid"
        case .exists(let name): "\(name) already exists"
        case .noDirectory: "the daemon reads single rule files, so that a new file would not be used"
        case .changed(let name): "\(name) has changed since it was read"
        case .tooLarge: "the text has more than \(RuleEditor.textLimit) bytes"
        case .faulty(let diagnostics):
            diagnostics.first { $0.severity == .error }.map { "line \($0.place.line): \($0.message)" } ?? "an error"
        case .noLocation(let rule):
            "\(rule) uses sunrise or sunset, but the location of the house is not set"
        case .file(let error): "\(error)"
        }
    }

    /// The hint for the user.
    public var hint: String? {
        switch self {
        case .off: "start the daemon with --edit-rules, or edit the file directly"
        case .unknown: "/api/v1/rule-files lists the rule files"
        case .ambiguous: "rename one of the files"
        case .readOnly: "edit it with a text editor on the daemon's machine"
        case .invalidName: RuleEditor.nameHint
        case .exists: "choose a different name"
        case .noDirectory: "start the daemon with --rules and a directory"
        case .changed: "read it again"
        case .tooLarge: "split the rules into several files"
        case .faulty(let diagnostics): diagnostics.first { $0.severity == .error }?.hint
        case .noLocation: "write latitude and longitude to ~/.config/smartplug/location.toml"
        case .file(let error): error.hint
        }
    }
}
