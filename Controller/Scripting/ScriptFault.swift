public import RuleFiles

/// The reason why a script does not run.
public enum ScriptFault: Error, Hashable, Sendable {
    /// The script has mistakes, each with its place.
    case refused(RuleFileError)
    /// The script's process ended.
    case ended(ScriptDeath)
    /// The script host is missing or cannot be started.
    case unavailable(String, hint: String)
}

extension ScriptFault: CustomStringConvertible {
    /// A description to print after the script's name, without a final line break. For `refused`, the description
    /// already contains the file's name and the places.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .ended(let death): death.description
        case .unavailable(let message, let hint): "\(message)\nhint: \(hint)"
        }
    }

    /// The description on one line.
    public var words: String {
        switch self {
        case .refused(let error):
            error.diagnostics.first.map { "line \($0.place.line): \($0.message)" } ?? "the script is not valid"
        case .ended(let death): death.description
        case .unavailable(let message, _): message
        }
    }
}
