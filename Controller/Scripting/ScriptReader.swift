/// Reads scripts. Each script runs once to its end, in a process that is then killed.
public struct ScriptReader: Sendable {
    private let host: String

    /// - Parameter host: the path of the program that runs scripts (``ScriptHost/path()``).
    public init(host: String) { self.host = host }

    /// Reads a script. Blocks until it is loaded: at most for the 1 s of processor time that a script may use, or for
    /// 10 s if its process hangs.
    ///
    /// - Parameters:
    ///   - name: the name of the file, without folders.
    ///   - time: the time that the script sees.
    /// - Throws: `ScriptFault` if the script has mistakes or cannot be run.
    public func read(name: String, source: String, time: ScriptTime) throws(ScriptFault) -> Script {
        let loaded = try LoadedScript(name: name, source: source, host: host, state: nil, time: time)
        defer { loaded.process.end() }
        return loaded.script
    }
}
