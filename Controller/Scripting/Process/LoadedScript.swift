import JSONText
import RuleFiles
import RuleModel

/// A process that has loaded a script.
final class LoadedScript {
    let script: Script
    let process: HostProcess

    init(
        name: String, source: String, host: String, state: String?, time: ScriptTime,
        patience: Duration = HostProcess.patience, cord: HostPipe? = nil
    ) throws(ScriptFault) {
        try Self.check(name, source)
        // The state is inserted into the request verbatim.
        if let state, !Self.isState(state) {
            throw .unavailable(
                "the stored state of \(name) is damaged",
                hint: "rename the script's file: it then starts without stored state")
        }
        process = try HostProcess(path: host, name: name, patience: patience, cord: cord)
        let request = HostRequest.load(name: name, source: source, state: state, time: time)
        script = try ScriptReplies.script(name: name, source: source, line: try process.answer(to: request))
    }

    private static func check(_ name: String, _ source: String) throws(ScriptFault) {
        func refused(_ message: String, _ hint: String) -> ScriptFault {
            .refused(ScriptRules(name: name, source: source).refusal(line: 1, message: message, hint: hint))
        }
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "/" }
        guard isPlain, (1...MessageLimits.name).contains(name.utf8.count), name.first != " " else {
            throw refused(
                "the name of a script file must have one line, no leading space"
                    + " and at most \(MessageLimits.name) bytes",
                "rename the file"
            )
        }
        guard source.utf8.count <= MessageLimits.source else {
            throw refused("a script has at most \(MessageLimits.source >> 10) KiB", "split it into several files")
        }
        do throws(RuleFileError) {
            try ScriptRules(name: name, source: source).checkOrder()
        } catch {
            throw .refused(error)
        }
    }

    private static func isState(_ state: String) -> Bool {
        guard state.utf8.count <= ScriptLimits.stateSize, !state.utf8.contains(UInt8(ascii: "\n")) else { return false }
        return (try? JSONReader.read(Array(state.utf8)) { reader throws(JSONError) in try reader.skip() }) != nil
    }
}

extension HostProcess {
    func answer(to request: [UInt8]) throws(ScriptFault) -> [UInt8] {
        guard request.count <= MessageLimits.request else {
            throw .unavailable(
                "a request to the script exceeds \(MessageLimits.request >> 20) MiB", hint: "shorten the script")
        }
        do throws(ScriptDeath) {
            return try ask(request)
        } catch {
            throw .ended(error)
        }
    }
}
