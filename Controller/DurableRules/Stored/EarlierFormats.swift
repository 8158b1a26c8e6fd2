import PlugModel
import ProtocolCore
import RuleModel

/// Reads a state in one of the formats before Protocol Buffers (versions 1 to 4) into the present message
/// ``SavedState``. The bytes are those between the header and the hash of the file. ``SavedStateReader`` checks the
/// limits of the values.
///
/// Numbers are big endian. Before a text there is its length in two bytes, or in four bytes for the state of a script.
/// Before a list there is its count in two bytes, and before an optional value there is a flag. Version 4 has all
/// parts. Bound names are missing before version 4, calls and scripts before version 3. Version 1 has cooldowns in
/// place of the engine's memory, and neither `wishes` nor effects.
final class EarlierFormats {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int
    private let version: UInt8

    private init(_ bytes: ArraySlice<UInt8>, version: UInt8) {
        self.bytes = bytes
        offset = bytes.startIndex
        self.version = version
    }

    static func read(_ bytes: ArraySlice<UInt8>, version: UInt8) throws -> SavedState {
        let input = EarlierFormats(bytes, version: version)
        let state = try input.state()
        guard input.offset == bytes.endIndex else { throw StateDecodingError.tooLong(at: input.offset) }
        return state
    }

    private func state() throws -> SavedState {
        var state = SavedState()
        state.boot = .init(try take(16))
        state.time = try signed()
        state.wallTime = try signed()
        state.plugs = try list {
            var plug = SavedPlug()
            (plug.id, plug.name) = (try plugID(), try text())
            if let cursor = try cursor() { plug.cursor = cursor }
            return plug
        }
        if version > 1 {
            state.engine = try engine()
        } else {
            state.engine.fired = try list {
                var firings = SavedFirings()
                (firings.rule, firings.times) = (try text(), [try signed()])
                return firings
            }
        }
        state.commands = try list(command)
        if version > 1 {
            state.wishes = try list(command)
            state.effects = try list(effect)
        }
        if version > 2 {
            state.calls = try list(call)
            state.scripts = try list(script)
        }
        if version > 3 {
            state.names = try list {
                var name = SavedBoundName()
                (name.name, name.plug) = (try text(), try plugID())
                return name
            }
        }
        return state
    }

    private func command() throws -> SavedCommand {
        var command = SavedCommand()
        (command.id, command.name) = (.init(try take(16)), try text())
        if let plug = version == 1 ? try plugID() : try optional(plugID) { command.plug = plug }
        (command.rule, command.cause) = (try text(), try text())
        if let event = try cursor() { command.event = event }
        command.until = try signed()
        switch try number(UInt8.self) {
        case let kind where kind <= 1:
            command.setRelay.on = kind == 1
            let autoOff = try signed()
            if autoOff >= 0 { command.setRelay.autoOff = autoOff }
        case 2:
            command.setLevel.permille = UInt32(try number(UInt16.self))
            command.setLevel.transition = try signed()
        case 3: command.identify = SavedNothing()
        case 4: command.resetProtection = SavedNothing()
        case _: throw StateDecodingError.outOfRange("a command")
        }
        return command
    }

    private func firing() throws -> SavedFiring {
        var firing = SavedFiring()
        (firing.id, firing.rule) = (.init(try take(16)), try text())
        (firing.time, firing.cause) = (try signed(), try text())
        if let plug = try optional(text) { firing.plug = plug }
        if let value = try optional(double) { firing.value = value }
        if let event = try cursor() { firing.event = event }
        if let age = try optional(signed) { firing.age = age }
        if let since = try optional(signed) { firing.since = since }
        firing.judged = try list(flag)
        return firing
    }

    private func effect() throws -> SavedEffect {
        var effect = SavedEffect()
        (effect.id, effect.firing, effect.until) = (.init(try take(16)), try firing(), try signed())
        switch try number(UInt8.self) {
        case 0: (effect.notify.title, effect.notify.text) = (try text(), try text())
        case 1: (effect.run.words, effect.run.timeout) = (try list(text), try signed())
        case 2:
            (effect.webHook.url, effect.webHook.method) = (try text(), try text())
            if let body = try optional(text) { effect.webHook.body = body }
        case _: throw StateDecodingError.outOfRange("an effect")
        }
        return effect
    }

    private func call() throws -> SavedCall {
        var call = SavedCall()
        (call.id, call.script) = (.init(try take(16)), try text())
        call.index = UInt32(try number(UInt16.self))
        (call.firing, call.until) = (try firing(), try signed())
        return call
    }

    private func script() throws -> SavedScript {
        var script = SavedScript()
        script.name = try text()
        if let state = try optional({ try text(of: Int(try number(UInt32.self))) }) { script.state = state }
        script.timers = try list {
            var timer = SavedTimer()
            (timer.name, timer.end, timer.startedBy) = (try text(), try signed(), .init(try take(16)))
            return timer
        }
        script.commands = try list(signed)
        if let until = try optional(signed) { script.until = until }
        return script
    }

    // MARK: - Engine

    private func engine() throws -> SavedEngine {
        var engine = SavedEngine()
        engine.fired = try list {
            var firings = SavedFirings()
            (firings.rule, firings.times) = (try text(), try list(signed))
            return firings
        }
        engine.dwells = try list {
            var dwell = SavedDwell()
            (dwell.rule, dwell.trigger, dwell.plug) = (try text(), try text(), try text())
            if let boot = try optional({ try take(16) }) { dwell.boot = .init(boot) }
            (dwell.since, dwell.latest, dwell.value) = (try signed(), try signed(), try double())
            return dwell
        }
        engine.runs = try list {
            var run = SavedRun()
            (run.firing, run.actions) = (try firing(), try text())
            run.next = UInt32(try number(UInt16.self))
            if let until = try optional(signed) { run.until = until }
            return run
        }
        engine.savedStates = try list {
            var before = SavedBefore()
            (before.plug, before.rule, before.firing) = (try text(), try text(), .init(try take(16)))
            before.on = try flag()
            if let permille = try optional({ try number(UInt16.self) }) { before.permille = UInt32(permille) }
            return before
        }
        engine.energies = try list(energyMark)
        engine.occurrences = try list {
            var occurrence = SavedOccurrence()
            (occurrence.rule, occurrence.trigger, occurrence.number) = (try text(), try text(), try signed())
            return occurrence
        }
        engine.disabled = try list(text)
        if let instant = try optional(signed) { engine.judgedUntil = instant }
        return engine
    }

    private func energyMark() throws -> SavedEnergyMark {
        var mark = SavedEnergyMark()
        mark.plug = try text()
        let periods: [EnergyThreshold.Period] = [.hour, .day, .week, .month, .on]
        let period = Int(try number(UInt8.self))
        guard periods.indices.contains(period) else { throw StateDecodingError.outOfRange("a period") }
        mark.period = periods[period].rawValue
        (mark.number, mark.milliwattHours) = (try signed(), try number(UInt64.self))
        (mark.fired, mark.known) = (try list(text), try list(text))
        return mark
    }

    // MARK: - Values

    private func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard bytes.endIndex - offset >= count else { throw StateDecodingError.tooShort(at: bytes.endIndex) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    private func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) throws -> Number {
        try take(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    private func signed() throws -> Int64 { Int64(bitPattern: try number(UInt64.self)) }

    private func double() throws -> Double { Double(bitPattern: try number(UInt64.self)) }

    private func flag() throws -> Bool {
        let byte = try number(UInt8.self)
        guard byte <= 1 else { throw StateDecodingError.outOfRange("a flag") }
        return byte == 1
    }

    private func text() throws -> String { try text(of: Int(try number(UInt16.self))) }

    private func text(of count: Int) throws -> String {
        guard let text = String(validating: try take(count), as: UTF8.self) else {
            throw StateDecodingError.outOfRange("a text")
        }
        return text
    }

    private func plugID() throws -> String { String(decoding: try take(12), as: UTF8.self) }

    /// Reads an optional number whose eight bytes are present in any case.
    private func cursor() throws -> UInt64? {
        let (isThere, number) = (try flag(), try number(UInt64.self))
        return isThere ? number : nil
    }

    private func optional<Value>(_ value: () throws -> Value) throws -> Value? { try flag() ? try value() : nil }

    private func list<Value>(_ entry: () throws -> Value) throws -> [Value] {
        try (0..<(try number(UInt16.self))).map { _ in try entry() }
    }
}
