public import Automation

/// Scripts that run over a recorded time, each from its beginning, in one thread.
public protocol PastScripts {
    /// Plugs that they name in their text.
    var plugs: [String] { get }
    /// Other texts in theirs: those that are plugs' names may be meant as such.
    var words: [String] { get }

    /// Returns what the function asks for.
    ///
    /// - Parameters:
    ///   - plugs: all that there are in this moment.
    ///   - milliseconds: since 1970: the time that it is for the script.
    func call(_ call: ScriptCall, plugs: [PlugView], at milliseconds: Int64) -> ScriptOutcome

    /// Nothing of the script's last answer is done, nor kept: it goes on from before it.
    func refused(_ script: String)
}
