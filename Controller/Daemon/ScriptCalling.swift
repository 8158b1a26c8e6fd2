public import Automation
public import Scripting

/// Calls scripts' functions, each script in a process of its own.
public protocol ScriptCalling: Sendable {
    /// How the scripts' processes fare, for one reader.
    var notices: AsyncStream<ScriptNotice> { get }

    /// These run from now on. One that is equal to one of before keeps its process.
    ///
    /// Calls of one that has changed, also the one under way, are made in its new process.
    ///
    /// - Parameter states: what scripts kept, by their names, as JSON.
    func replace(_ scripts: [Script], states: [String: String]) async

    /// Returns what the function asked for, or why it could not be asked; nil where the task was cancelled, or everything ended, before
    /// that was known. Calls of one script are made one after the other.
    ///
    /// - Parameter state: what the house keeps of the script, which the function finds: what an earlier call that was refused or withdrawn
    ///   has made of it does not count.
    func call(_ call: ScriptCall, plugs: [PlugView], state: String?, time: ScriptTime) async -> ScriptOutcome?

    /// Ends every process.
    func end() async
}

extension ScriptPool: ScriptCalling {}
