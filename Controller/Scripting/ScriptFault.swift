public import RuleFiles

/// Why a script does not run.
public enum ScriptFault: Error, Hashable, Sendable {
    /// The script is wrong: where, and what to do about it.
    case refused(RuleFileError)
    /// Its process ended.
    case ended(ScriptDeath)
    /// What runs scripts is not there, or cannot be started.
    case unavailable(String, hint: String)
}

extension ScriptFault: CustomStringConvertible {
    /// Ready to be printed behind the script's name, or with it where places are in it; without a final line break.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .ended(let death): death.description
        case .unavailable(let message, let hint): "\(message)\nhint: \(hint)"
        }
    }

    /// On one line.
    public var words: String {
        switch self {
        case .refused(let error):
            error.diagnostics.first.map { "line \($0.place.line): \($0.message)" } ?? "the script is wrong"
        case .ended(let death): death.description
        case .unavailable(let message, _): message
        }
    }
}
