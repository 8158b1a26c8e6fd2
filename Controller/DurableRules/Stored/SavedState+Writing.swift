import Automation
import PlugModel
import ProtocolCore
import RuleModel
import SwiftProtobuf

/// The conversions of the state to the messages of the file. Entries beyond the limit of a list are omitted, and long
/// texts are cut.
extension SavedState {
    init(_ state: StoredRuleState, at moment: HostMoment) {
        self.init()
        boot = .init(moment.boot.bytes)
        time = moment.instant.nanoseconds
        wallTime = moment.nanosecondsSince1970
        plugs = state.plugs.prefix(StoredRuleState.maximumPlugs).map(SavedPlug.init)
        engine = SavedEngine(state.engine)
        commands = state.commands.prefix(StoredRuleState.maximumCommands).map(SavedCommand.init)
        wishes = state.deferred.prefix(StoredRuleState.maximumDeferred).map(SavedCommand.init)
        effects = state.effects.prefix(StoredRuleState.maximumEffects).map(SavedEffect.init)
        calls = state.calls.elements.prefix(ScriptLimits.calls).map(SavedCall.init)
        scripts = state.scripts.prefix(ScriptLimits.scripts).map { SavedScript($0, now: moment.instant) }
        names = state.names.plugs.sorted { $0.key < $1.key }.prefix(BoundNames.limit).map { name, plug in
            .with { ($0.name, $0.plug) = (name.cut(), plug.rawValue) }
        }
    }
}

extension SavedPlug {
    fileprivate init(_ plug: StoredRuleState.Plug) {
        self.init()
        id = plug.id.rawValue
        name = plug.name.cut()
        if let number = plug.cursor { cursor = number }
    }
}

extension SavedCommand {
    fileprivate init(_ command: StoredRuleState.Command) {
        self.init()
        id = .init(command.request.id.bytes)
        name = command.request.plug.cut()
        if let known = command.plug { plug = known.rawValue }
        rule = command.rule.cut()
        cause = command.cause.cut()
        if let number = command.event { event = number }
        until = command.until.nanoseconds
        switch command.request.command {
        case .setRelay(let on, let autoOff):
            setRelay.on = on
            if let autoOff { setRelay.autoOff = autoOff.stored }
        case .setLevel(let level, let transition):
            setLevel.permille = UInt32(level.permille)
            setLevel.transition = transition.stored
        case .identify: identify = SavedNothing()
        case .resetProtection: resetProtection = SavedNothing()
        case .rename, .configure: preconditionFailure("no rule changes what a plug is called or how it is set up")
        }
    }
}

extension SavedFiring {
    fileprivate init(_ firing: Firing) {
        self.init()
        id = .init(firing.id.bytes)
        rule = firing.rule.cut()
        time = firing.time.nanoseconds
        cause = "\(firing.cause)".cut()
        if let name = firing.cause.plug { plug = name.cut() }
        if let number = firing.cause.value { value = number }
        if let number = firing.cause.event { event = number }
        if let duration = firing.cause.age { age = duration.stored }
        if let instant = firing.cause.since { since = instant.nanoseconds }
        judged = Array(firing.judged.prefix(StoredRuleState.maximumJudged))
    }
}

extension SavedEffect {
    fileprivate init(_ effect: StoredRuleState.Effect) {
        self.init()
        id = .init(effect.request.id.bytes)
        firing = SavedFiring(effect.request.firing)
        until = effect.until.nanoseconds
        // A cut text could change what a program or server does, so ``EffectRequest/Effect/fits`` rejects long ones.
        switch effect.request.effect {
        case .notify(let title, let text):
            notify.title = title.cut(to: StoredRuleState.maximumWords)
            notify.text = text.cut(to: StoredRuleState.maximumWords)
        case .run(let words, let timeout):
            run.words = words.map { $0.cut(to: StoredRuleState.maximumWords) }
            run.timeout = timeout.stored
        case .webHook(let hook):
            webHook.url = hook.url.cut(to: StoredRuleState.maximumWords)
            webHook.method = hook.method.cut(to: StoredRuleState.maximumWords)
            if let body = hook.body { webHook.body = body.cut(to: StoredRuleState.maximumWords) }
        case .wake(let machine): wake = machine.cut(to: StoredRuleState.maximumWords)
        }
    }
}

extension SavedCall {
    fileprivate init(_ call: StoredRuleState.Call) {
        self.init()
        id = .init(call.call.id.bytes)
        script = call.call.handler.script.cut()
        index = UInt32(clamping: call.call.handler.index)
        firing = SavedFiring(call.call.firing)
        until = call.until.nanoseconds
    }
}

extension SavedScript {
    /// - Parameter now: the time of writing. Times of commands that are at least ``ScriptLimits/span`` older are
    ///   omitted.
    fileprivate init(_ script: StoredRuleState.Script, now: Instant) {
        self.init()
        name = script.name.cut()
        if let json = script.state { state = json }
        timers = script.timers.prefix(ScriptLimits.timers).map { timer in
            .with {
                ($0.name, $0.end, $0.startedBy) = (
                    timer.name.cut(), timer.end.nanoseconds, .init(timer.startedBy.bytes)
                )
            }
        }
        commands = script.commands.filter { now < $0 + ScriptLimits.span }.suffix(ScriptLimits.commands).map(
            \.nanoseconds)
        if let instant = script.until { until = instant.nanoseconds }
    }
}

// MARK: - Engine

extension SavedEngine {
    fileprivate init(_ memory: EngineMemory) {
        func stored<Entry, Saved>(_ entries: [Entry], _ convert: (Entry) -> Saved) -> [Saved] {
            entries.prefix(EngineMemory.maximumEntries).map(convert)
        }
        self.init()
        fired = stored(memory.fired.sorted { $0.key < $1.key }) { rule, instants in
            .with {
                $0.rule = rule.cut()
                $0.times = instants.suffix(EngineMemory.maximumInstants).map(\.nanoseconds)
            }
        }
        dwells = stored(memory.dwells, SavedDwell.init)
        runs = stored(memory.runs, SavedRun.init)
        savedStates = stored(memory.savedStates, SavedBefore.init)
        energies = stored(memory.energies, SavedEnergyMark.init)
        occurrences = stored(memory.occurrences) { entry in
            .with { ($0.rule, $0.trigger, $0.number) = (entry.rule.cut(), entry.trigger.cut(), entry.number) }
        }
        disabled = stored(memory.disabled.sorted()) { $0.cut() }
        if let instant = memory.judgedUntil { judgedUntil = instant.nanoseconds }
        appliances = stored(memory.appliances, SavedAppliance.init)
    }

    /// Removes the least important parts, one after the other, until the memory fits.
    ///
    /// - Returns: the removed parts in words.
    mutating func shrink(until fits: (SavedEngine) -> Bool) -> [String] {
        let sacrifices: [(words: String, make: (inout SavedEngine) -> Void)] = [
            (
                "the times of earlier firings",
                { engine in
                    for index in engine.fired.indices {
                        engine.fired[index].times = Array(engine.fired[index].times.suffix(1))
                    }
                }
            ),
            ("the times of the last firings", { $0.fired = [] }),
            ("the energy counters", { $0.energies = [] }),
            ("dwells", { $0.dwells = [] }),
            ("the learned appliances", { $0.appliances = [] }),
            (
                "everything except which rules are turned off",
                { engine in engine = .with { $0.disabled = engine.disabled } }
            ),
        ]
        var missing: [String] = []
        for sacrifice in sacrifices where !fits(self) {
            sacrifice.make(&self)
            missing.append(sacrifice.words)
        }
        return missing
    }
}

extension SavedDwell {
    fileprivate init(_ dwell: EngineMemory.Dwell) {
        self.init()
        (rule, trigger, plug) = (dwell.rule.cut(), dwell.trigger.cut(), dwell.plug.cut())
        if let known = dwell.boot { boot = .init(known.bytes) }
        since = dwell.since.nanoseconds
        latest = dwell.latest.nanoseconds
        value = dwell.value
    }
}

extension SavedRun {
    fileprivate init(_ run: EngineMemory.Run) {
        self.init()
        firing = SavedFiring(run.firing)
        actions = run.actions.cut()
        next = UInt32(clamping: run.next)
        if let instant = run.until { until = instant.nanoseconds }
    }
}

extension SavedBefore {
    fileprivate init(_ before: EngineMemory.Before) {
        self.init()
        (plug, rule) = (before.plug.cut(), before.rule.cut())
        firing = .init(before.firing.bytes)
        on = before.on
        if let level = before.level { permille = UInt32(level.permille) }
    }
}

extension SavedEnergyMark {
    fileprivate init(_ mark: EngineMemory.EnergyMark) {
        self.init()
        plug = mark.plug.cut()
        period = mark.period.rawValue
        number = mark.number
        milliwattHours = mark.milliwattHours
        fired = mark.fired.sorted().prefix(EngineMemory.maximumEntries).map { $0.cut() }
        known = mark.known.sorted().prefix(EngineMemory.maximumEntries).map { $0.cut() }
    }
}

extension SavedAppliance {
    fileprivate init(_ appliance: EngineMemory.Appliance) {
        self.init()
        let profile = appliance.profile
        plug = appliance.plug.cut()
        pauses = profile.pauses.map(UInt32.init)
        pauseLevels = profile.pauseLevels.map(UInt32.init)
        rests = profile.rests.flatMap { rest in rest.numbers.map(UInt32.init) }
        if let level = profile.endLevel { endLevel = level }
        if let level = profile.standbyLevel { standbyLevel = level }
        if let level = profile.peakLevel { peakLevel = level }
        guard let known = profile.compressor else { return }
        compressor = .with {
            ($0.runs, $0.level, $0.varies) = (UInt32(known.runs), known.level, known.varies)
            ($0.run, $0.period) = (known.runMilliseconds, known.periodMilliseconds)
        }
    }
}

extension String {
    /// Returns the text without its end beyond the limit in bytes.
    fileprivate func cut(to limit: Int = StoredRuleState.maximumText) -> String {
        var text = self
        while text.utf8.count > limit { text.removeLast() }
        return text
    }
}

extension Duration {
    /// The duration in nanoseconds. A negative one becomes zero: a clock that was set back may make an age negative.
    fileprivate var stored: Int64 { max(0, wholeNanoseconds) }
}
