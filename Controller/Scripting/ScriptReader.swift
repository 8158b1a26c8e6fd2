/// Reads scripts: each is run once, up to its end, by a process of its own that nothing outlives.
public struct ScriptReader: Sendable {
    private let host: String

    /// - Parameter host: the path of the program that runs scripts (``ScriptHost/path()``).
    public init(host: String) { self.host = host }

    /// Blocks until it is read: at most for the second that a script may compute, and for ten where its process is stopped.
    ///
    /// - Parameters:
    ///   - name: of its file, without folders.
    ///   - time: what the script is told the time is.
    public func read(name: String, source: String, time: ScriptTime) throws(ScriptFault) -> Script {
        let loaded = try LoadedScript(name: name, source: source, host: host, state: nil, time: time)
        defer { loaded.process.end() }
        return loaded.script
    }
}
