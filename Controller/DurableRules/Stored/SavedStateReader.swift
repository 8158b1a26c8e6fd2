import ApplianceSense
import Automation
import PlugModel
import ProtocolCore
import RuleModel

/// Converts the messages of a file to a state, with its times on the present clock. Throws ``StateDecodingError`` if a
/// value is out of range.
struct SavedStateReader {
    private let saved: SavedState
    private let now: Instant
    /// The time of writing on the clock of the boot that wrote the file.
    private let then: Instant
    /// The time since the writing; nil if unknown.
    private let passed: Duration?

    init(_ saved: SavedState, at now: HostMoment) throws {
        self.saved = saved
        self.now = now.instant
        then = Instant(nanoseconds: saved.time)
        let writer = HostMoment(boot: try boot(saved.boot), instant: then, nanosecondsSince1970: saved.wallTime)
        passed = writer.passed(until: now)
    }

    func state() throws -> StoredRuleState {
        var state = StoredRuleState()
        state.plugs = try list(saved.plugs, StoredRuleState.maximumPlugs) { plug in
            StoredRuleState.Plug(
                id: try plugID(plug.id), name: try text(plug.name), cursor: plug.hasCursor ? plug.cursor : nil)
        }
        state.engine = try engine(saved.engine)
        state.commands = try list(saved.commands, StoredRuleState.maximumCommands) { saved in
            var command = try command(saved)
            command.until = min(now + DurableRuleEngine.waitedPatience, command.until)
            if passed == nil, command.until - now <= DurableRuleEngine.patience { command.until = now }
            return command
        }
        state.deferred = try list(saved.wishes, StoredRuleState.maximumDeferred) { saved in
            var deferred = try command(saved)
            deferred.until = min(now + DurableRuleEngine.longestRemembering, deferred.until)
            return deferred
        }
        state.effects = try list(saved.effects, StoredRuleState.maximumEffects) { try effect($0) }
        for saved in try list(saved.calls, ScriptLimits.calls, { $0 }) {
            let handler = ScriptHandler(script: try text(saved.script), index: Int(UInt16(clamping: saved.index)))
            let call = ScriptCall(
                id: try requestID(saved.id), handler: handler, firing: try firing(saved.firing, latest: now))
            let until = min(now + ScriptLimits.patience, moved(saved.until))
            guard state.calls.append(.init(call: call, until: until)) else {
                throw StateDecodingError.outOfRange("a call with a new id")
            }
        }
        for saved in try list(saved.scripts, ScriptLimits.scripts, { $0 }) {
            let script = try script(saved)
            guard state.script(named: script.name) == nil else {
                throw StateDecodingError.outOfRange("a script with a new name")
            }
            state.scripts.append(script)
        }
        let names = try list(saved.names, BoundNames.limit) { (try text($0.name), try plugID($0.plug)) }
        state.names = BoundNames(Dictionary(names) { _, last in last })
        return state
    }

    // MARK: - Commands, effects and scripts

    private func command(_ saved: SavedCommand) throws -> StoredRuleState.Command {
        let request = CommandRequest(
            id: try requestID(saved.id), plug: try text(saved.name), command: try plugCommand(saved.action))
        return StoredRuleState.Command(
            request: request, plug: saved.hasPlug ? try plugID(saved.plug) : nil, rule: try text(saved.rule),
            cause: try text(saved.cause), event: saved.hasEvent ? saved.event : nil, until: moved(saved.until))
    }

    private func plugCommand(_ action: SavedCommand.OneOf_Action?) throws -> PlugCommand {
        switch action {
        case .setRelay(let saved):
            .setRelay(on: saved.on, autoOff: saved.hasAutoOff ? try duration(saved.autoOff) : nil)
        case .setLevel(let saved):
            .setLevel(try level(saved.permille), transition: try duration(saved.transition))
        case .identify: .identify
        case .resetProtection: .resetProtection
        case nil: throw StateDecodingError.outOfRange("a command")
        }
    }

    private func effect(_ saved: SavedEffect) throws -> StoredRuleState.Effect {
        let effect: EffectRequest.Effect
        switch saved.kind {
        case .notify(let saved): effect = .notify(title: try words(saved.title), text: try words(saved.text))
        case .run(let saved):
            let program = try list(saved.words, StoredRuleState.Effect.maximumArguments) { try words($0) }
            effect = .run(program, timeout: try duration(saved.timeout))
        case .webHook(let saved):
            let body = saved.hasBody ? try words(saved.body) : nil
            effect = .webHook(WebHook(url: try words(saved.url), method: try words(saved.method), body: body))
        case .wake(let machine): effect = .wake(try words(machine))
        case nil: throw StateDecodingError.outOfRange("an effect")
        }
        let request = EffectRequest(
            id: try requestID(saved.id), effect: effect, firing: try firing(saved.firing, latest: now))
        let until = min(now + DurableRuleEngine.patience(for: effect), moved(saved.until))
        return StoredRuleState.Effect(request: request, until: until)
    }

    private func script(_ saved: SavedScript) throws -> StoredRuleState.Script {
        var script = StoredRuleState.Script(name: try text(saved.name))
        if saved.hasState { script.state = try text(saved.state, atMost: ScriptLimits.stateSize) }
        script.timers = try list(saved.timers, ScriptLimits.timers) { timer in
            StoredRuleState.Script.Timer(
                name: try text(timer.name), end: min(now + ScriptLimits.longestTimer, moved(timer.end)),
                startedBy: try requestID(timer.startedBy))
        }
        script.timers.sort { $0.end < $1.end }
        script.commands = try list(saved.commands, ScriptLimits.commands) { min(now, moved($0)) }.sorted()
        if saved.hasUntil { script.until = min(now + ScriptLimits.keeping, moved(saved.until)) }
        return script
    }

    /// - Parameter latest: the latest allowed time; it replaces a later time.
    private func firing(_ saved: SavedFiring, latest: Instant) throws -> Firing {
        let cause = Firing.Cause(
            .told(try text(saved.cause)), plug: saved.hasPlug ? try text(saved.plug) : nil,
            value: saved.hasValue ? try number(saved.value) : nil, event: saved.hasEvent ? saved.event : nil,
            age: saved.hasAge ? try duration(saved.age) : nil,
            since: saved.hasSince ? min(latest, moved(saved.since)) : nil)
        var firing = Firing(
            id: try requestID(saved.id), rule: try text(saved.rule), cause: cause, time: min(latest, moved(saved.time)))
        firing.judged = try list(saved.judged, StoredRuleState.maximumJudged) { $0 }
        return firing
    }

    // MARK: - Engine

    private func engine(_ saved: SavedEngine) throws -> EngineMemory {
        let limit = EngineMemory.maximumEntries
        var memory = EngineMemory()
        // A file of version 1 may have more entries than one of the present version.
        for saved in try list(saved.fired, StoredRuleState.maximumCooldowns, { $0 }) {
            memory.fired[try text(saved.rule)] = try list(saved.times, EngineMemory.maximumInstants) { time in
                // Without the elapsed time, every cooldown restarts.
                passed == nil ? now : moved(time)
            }
        }
        memory.dwells = try list(saved.dwells, limit) { try dwell($0) }
        memory.runs = try list(saved.runs, limit) { saved in
            EngineMemory.Run(
                firing: try firing(saved.firing, latest: Instant(nanoseconds: .max)), actions: try text(saved.actions),
                next: Int(UInt16(clamping: saved.next)), until: saved.hasUntil ? moved(saved.until) : nil)
        }
        memory.savedStates = try list(saved.savedStates, limit) { saved in
            EngineMemory.Before(
                plug: try text(saved.plug), rule: try text(saved.rule), firing: try requestID(saved.firing),
                on: saved.on, level: saved.hasPermille ? try level(saved.permille) : nil)
        }
        memory.energies = try list(saved.energies, limit) { try energyMark($0) }
        memory.occurrences = try list(saved.occurrences, limit) { saved in
            EngineMemory.Occurrence(rule: try text(saved.rule), trigger: try text(saved.trigger), number: saved.number)
        }
        memory.disabled = Set(try list(saved.disabled, limit) { try text($0) })
        if saved.hasJudgedUntil { memory.judgedUntil = passed == nil ? now : moved(saved.judgedUntil) }
        memory.appliances = try list(saved.appliances, limit) { saved in
            EngineMemory.Appliance(plug: try text(saved.plug), profile: ApplianceProfile(saved).plausible)
        }
        return memory
    }

    /// Instants of dwells are on the plugs' clocks and are not converted.
    private func dwell(_ saved: SavedDwell) throws -> EngineMemory.Dwell {
        guard saved.value.isFinite else { throw StateDecodingError.outOfRange("a measured value") }
        return EngineMemory.Dwell(
            rule: try text(saved.rule), trigger: try text(saved.trigger), plug: try text(saved.plug),
            boot: saved.hasBoot ? try boot(saved.boot) : nil, since: Instant(nanoseconds: saved.since),
            latest: Instant(nanoseconds: saved.latest), value: saved.value)
    }

    private func energyMark(_ saved: SavedEnergyMark) throws -> EngineMemory.EnergyMark {
        guard let period = EnergyThreshold.Period(rawValue: saved.period) else {
            throw StateDecodingError.outOfRange("a period")
        }
        let keys = try [saved.fired, saved.known].map { keys in
            Set(try list(keys, EngineMemory.maximumEntries) { try text($0) })
        }
        // Earlier versions accepted any counter value and may have stored a larger one.
        return EngineMemory.EnergyMark(
            plug: try text(saved.plug), period: period, number: saved.number,
            milliwattHours: min(saved.milliwattHours, PlugWire.greatestEnergy), fired: keys[0], known: keys[1])
    }

    // MARK: - Values

    /// Converts an instant of the writer's boot to the present clock. An unknown elapsed time counts as zero.
    private func moved(_ nanoseconds: Int64) -> Instant {
        now - (passed ?? .zero) + (Instant(nanoseconds: nanoseconds) - then)
    }

    private func list<Message, Value>(
        _ messages: [Message], _ limit: Int, _ convert: (Message) throws -> Value
    ) throws -> [Value] {
        guard messages.count <= limit else { throw StateDecodingError.outOfRange("a count up to \(limit)") }
        return try messages.map(convert)
    }
}

// MARK: - Values without a time

private func text(_ text: String, atMost limit: Int = StoredRuleState.maximumText) throws -> String {
    guard text.utf8.count <= limit else { throw StateDecodingError.outOfRange("a text up to \(limit) bytes") }
    return text
}

private func words(_ words: String) throws -> String { try text(words, atMost: StoredRuleState.maximumWords) }

/// Throws if the number is NaN, because two equal memories that contain NaN would compare as different.
private func number(_ value: Double) throws -> Double {
    guard !value.isNaN else { throw StateDecodingError.outOfRange("a number") }
    return value
}

private func duration(_ nanoseconds: Int64) throws -> Duration {
    guard nanoseconds >= 0 else { throw StateDecodingError.outOfRange("a duration") }
    return .nanoseconds(nanoseconds)
}

private func level(_ permille: UInt32) throws -> DimLevel {
    guard let level = DimLevel(permille: Int(permille)) else { throw StateDecodingError.outOfRange("a level") }
    return level
}

private func boot(_ bytes: some Collection<UInt8>) throws -> BootID {
    guard let boot = BootID(bytes: bytes) else { throw StateDecodingError.outOfRange("a boot's id") }
    return boot
}

private func requestID(_ bytes: some Collection<UInt8>) throws -> RequestID {
    guard let id = RequestID(bytes: bytes) else { throw StateDecodingError.outOfRange("a request's id") }
    return id
}

private func plugID(_ text: String) throws -> PlugID {
    guard let id = PlugID(rawValue: text) else { throw StateDecodingError.outOfRange("a plug's id") }
    return id
}

extension HostMoment {
    /// Returns the time between two moments; nil if unknown.
    fileprivate func passed(until later: HostMoment) -> Duration? {
        let isSameBoot = boot == later.boot
        let passed =
            isSameBoot
            ? later.instant - instant
            : Instant(nanoseconds: later.nanosecondsSince1970) - Instant(nanoseconds: nanosecondsSince1970)
        return passed >= .zero ? passed : nil
    }
}
