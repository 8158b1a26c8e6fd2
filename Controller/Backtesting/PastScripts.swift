public import Automation
public import RuleModel

/// The scripts of a backtest. Each script starts without stored state. All calls are made on the thread of the
/// backtest.
public protocol PastScripts {
    /// The names of plugs in the scripts' text.
    var plugs: [String] { get }
    /// Other strings in the scripts' text. A string that matches the name of a plug may mean that plug.
    var words: [String] { get }

    /// Calls a function of a script and returns its actions.
    ///
    /// - Parameters:
    ///   - call: The script, the function and the cause.
    ///   - plugs: All plugs that exist at this moment.
    ///   - milliseconds: The current time for the script, since 1970.
    func call(_ call: ScriptCall, plugs: [PlugView], at milliseconds: Int64) -> ScriptOutcome

    /// Discards the script's last answer: none of its actions are performed, and the script continues with its previous
    /// state.
    func refused(_ script: String)
}
