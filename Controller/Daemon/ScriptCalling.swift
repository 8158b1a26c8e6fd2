public import Automation
public import RuleModel
public import Scripting

/// Calls the functions of scripts. Each script runs in its own process.
public protocol ScriptCalling: Sendable {
    /// The starts and ends of script processes, for one reader.
    var notices: AsyncStream<ScriptNotice> { get }

    /// Replaces the running scripts. Unchanged scripts keep their processes.
    ///
    /// The new process of a changed script executes the pending calls, and repeats the call that was running.
    ///
    /// - Parameters:
    ///   - scripts: All scripts to run.
    ///   - states: The stored states of scripts by name, as JSON.
    func replace(_ scripts: [Script], states: [String: String]) async

    /// Calls a function, after earlier calls of the same script.
    ///
    /// - Parameters:
    ///   - call: The function and its arguments.
    ///   - plugs: The plugs that the function can read.
    ///   - state: The stored state of the script, as JSON, without the changes of earlier calls that were refused or
    ///     withdrawn.
    ///   - time: The time that the function can read.
    /// - Returns: The actions that the function requested, or the reason of a failure; nil if the task was cancelled or
    ///   all scripts were ended before the result was known.
    func call(_ call: ScriptCall, plugs: [PlugView], state: String?, time: ScriptTime) async -> ScriptOutcome?

    /// Ends all processes.
    func end() async
}

extension ScriptPool: ScriptCalling {}
