import Automation
import RuleFiles

/// A process that has loaded a script.
final class LoadedScript {
    let script: Script
    let process: HostProcess

    init(
        name: String, source: String, host: String, state: String?, time: ScriptTime,
        patience: Duration = HostProcess.patience
    ) throws(ScriptFault) {
        let grammar = ScriptRules(name: name, source: source)
        try Self.check(name, source, grammar)
        // It goes into a line as it is, so that it has to be what it was when it came.
        if let state, !Self.isState(state) {
            throw .unavailable(
                "the state that is stored for \(name) is damaged", hint: "give the script another name: it begins without one")
        }
        process = try HostProcess(path: host, name: name, patience: patience)
        let request = HostRequest.load(name: name, source: source, state: state, time: time)
        switch try process.reply(to: request) {
        case .loaded(let declarations, let log):
            let rules: [Rule]
            do throws(RuleFileError) {
                rules = try grammar.rules(of: declarations)
            } catch {
                throw .refused(error)
            }
            script = Script(name: name, source: source, rules: rules, log: log)
        case .failed(let words, log: _):
            let error = ScriptError(words, of: name)
            throw .refused(grammar.refusal(line: error.line ?? 1, message: error.message, hint: error.hint))
        case .done:
            process.end()
            throw .ended(.garbled("'done' before anything was called"))
        }
    }

    func end() { process.end() }

    private static func check(_ name: String, _ source: String, _ grammar: ScriptRules) throws(ScriptFault) {
        func refused(_ message: String, _ hint: String) -> ScriptFault {
            .refused(grammar.refusal(line: 1, message: message, hint: hint))
        }
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "/" }
        guard isPlain, (1...MessageLimits.name).contains(name.utf8.count), !name.hasPrefix(" ") else {
            throw refused(
                "a script's file has a name of at most \(MessageLimits.name) bytes on one line", "give it a shorter one")
        }
        guard source.utf8.count <= MessageLimits.source else {
            throw refused("a script has at most \(MessageLimits.source >> 10) KiB", "split it into several files")
        }
    }

    private static func isState(_ state: String) -> Bool {
        guard state.utf8.count <= MessageLimits.state, !state.utf8.contains(UInt8(ascii: "\n")) else { return false }
        let bytes = Array(state.utf8)
        return (try? JSONReader.read(bytes) { reader throws(LineFault) in try reader.skip() }) != nil
    }
}

extension HostProcess {
    func reply(to request: [UInt8]) throws(ScriptFault) -> HostReply {
        guard request.count <= MessageLimits.request else {
            throw .unavailable(
                "what it is to be told has more than \(MessageLimits.request >> 20) MiB", hint: "shorten the script")
        }
        let line: [UInt8]
        do throws(ScriptDeath) {
            line = try ask(request)
        } catch {
            throw .ended(error)
        }
        do throws(LineFault) {
            return try HostReply(line: line)
        } catch {
            end()
            throw .ended(.garbled(error.message))
        }
    }
}

/// What Lua says of an error, taken apart: `television.lua:12: message`, and a hint on a line of its own.
struct ScriptError {
    var line: Int?
    var message: String
    var hint: String?

    init(_ words: String, of script: String) {
        let parts = words.split(separator: "\nhint: ", maxSplits: 1)
        message = parts.first.map(String.init) ?? words
        hint = parts.count == 2 ? String(parts[1]) : nil
        guard message.hasPrefix(script + ":") else { return }
        let rest = message.dropFirst(script.count + 1)
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard let number = Int(digits), rest.dropFirst(digits.count).hasPrefix(": ") else { return }
        line = number
        message = String(rest.dropFirst(digits.count + 2))
    }
}
