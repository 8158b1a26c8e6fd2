import PlugModel
import ProtocolCore

/// The stored form of calls and scripts: the count, then each entry, with the properties in order. A state follows its
/// length in four bytes.
extension MemoryWriter {
    mutating func put(_ calls: PendingCalls) {
        let stored = calls.elements.prefix(ScriptLimits.calls)
        put(UInt16(stored.count))
        for entry in stored {
            put(entry.call.id.bytes)
            put(entry.call.handler.script)
            put(UInt16(clamping: entry.call.handler.index))
            put(firing: entry.call.firing)
            put(entry.until)
        }
    }

    /// - Parameter now: the time of writing. Times of commands that are at least ``ScriptLimits/span`` older are
    ///   omitted.
    mutating func put(_ scripts: [StoredRuleState.Script], at now: Instant) {
        let stored = scripts.prefix(ScriptLimits.scripts)
        put(UInt16(stored.count))
        for script in stored {
            put(script.name)
            put(optional: script.state) { $0.put(state: $1) }
            let timers = script.timers.prefix(ScriptLimits.timers)
            put(UInt16(timers.count))
            for timer in timers {
                put(timer.name)
                put(timer.end)
                put(timer.startedBy.bytes)
            }
            let commands = script.commands.filter { now < $0 + ScriptLimits.span }.suffix(ScriptLimits.commands)
            put(UInt16(commands.count))
            for command in commands { put(command) }
            put(optional: script.until) { $0.put($1) }
        }
    }

    private mutating func put(state: String) {
        put(UInt32(state.utf8.count))
        put(Array(state.utf8))
    }
}

extension MemoryReader {
    fileprivate mutating func call() throws(StateDecodingError) -> StoredRuleState.Call {
        let id = try requestID()
        let script = try text()
        let index: UInt16 = try integer()
        let handler = ScriptHandler(script: script, index: Int(index))
        return StoredRuleState.Call(
            call: ScriptCall(id: id, handler: handler, firing: try firing()), until: try instant())
    }

    fileprivate mutating func script() throws(StateDecodingError) -> StoredRuleState.Script {
        var script = StoredRuleState.Script(name: try text())
        script.state = try optional { (input) throws(StateDecodingError) in try input.state() }
        for _ in 0..<(try count(ScriptLimits.timers)) {
            let (name, end) = (try text(), try instant())
            script.timers.append(StoredRuleState.Script.Timer(name: name, end: end, startedBy: try requestID()))
        }
        for _ in 0..<(try count(ScriptLimits.commands)) { script.commands.append(try instant()) }
        script.until = try optional { (input) throws(StateDecodingError) in try input.instant() }
        return script
    }

    private mutating func state() throws(StateDecodingError) -> String {
        let count: UInt32 = try integer()
        guard count <= ScriptLimits.stateSize else { throw fault("a script's state") }
        let text = String(validating: try take(Int(count)), as: UTF8.self)
        guard let text else { throw fault("a script's state") }
        return text
    }
}

extension StoredRuleState {
    mutating func readScripts(
        _ input: inout MemoryReader, moved: (Instant) -> Instant, now: Instant
    ) throws(StateDecodingError) {
        for _ in 0..<(try input.count(ScriptLimits.calls)) {
            var call = try input.call()
            call.until = min(now + ScriptLimits.patience, moved(call.until))
            call.call.firing.move(moved, now: now)
            guard calls.append(call) else { throw input.fault("a call with a new id") }
        }
        for _ in 0..<(try input.count(ScriptLimits.scripts)) {
            var script = try input.script()
            for index in script.timers.indices {
                script.timers[index].end = min(now + ScriptLimits.longestTimer, moved(script.timers[index].end))
            }
            script.timers.sort { $0.end < $1.end }
            script.commands = script.commands.map { min(now, moved($0)) }.sorted()
            script.until = script.until.map { min(now + ScriptLimits.keeping, moved($0)) }
            guard self.script(named: script.name) == nil else {
                throw input.fault("a script with a new name")
            }
            scripts.append(script)
        }
    }
}
