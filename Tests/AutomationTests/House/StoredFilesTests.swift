import ApplianceSense
import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Files of the rules' state")
struct StoredFilesTests {
    private func read(_ bytes: [UInt8]) throws -> StoredRuleState {
        try StoredRuleState(decoding: bytes, at: SampleMemory.moment)
    }

    @Test("A file that an earlier version wrote yields every value that it contains", arguments: 1...4)
    func earlierVersions(version: Int) throws {
        var expected = SampleMemory.full
        expected.engine.appliances = []
        if version < 4 { expected.names = BoundNames() }
        if version < 3 { (expected.calls, expected.scripts) = (PendingCalls(), []) }
        if version < 2 {
            (expected.engine, expected.deferred, expected.effects) = (EngineMemory(), [], [])
            expected.engine.fired = ["By button": [.at(99)]]
        }
        // These versions had no wakes.
        expected.effects.removeAll { if case .wake = $0.request.effect { true } else { false } }
        let read = try read(try SampleMemory.file(version: version))
        #expect(read == expected)
        // The next write stores the same values in the present version.
        #expect(try self.read(read.encoded(at: SampleMemory.moment)) == expected)
    }

    @Test("A state with every kind of content is unchanged after it was written and read")
    func full() throws {
        let bytes = SampleMemory.full.encoded(at: SampleMemory.moment)
        #expect(try read(bytes) == SampleMemory.full)
        #expect(try read(bytes).encoded(at: SampleMemory.moment) == bytes)
    }

    @Test("A state without learned appliances, as earlier programs wrote it, is read with an empty list")
    func withoutAppliances() throws {
        var saved = SavedState(SampleMemory.full, at: SampleMemory.moment)
        saved.engine.appliances = []
        let header = StoredRuleState.magic + [StoredRuleState.version]
        var expected = SampleMemory.full
        expected.engine.appliances = []
        #expect(try read(StoredRuleState.sealed(header + StoredRuleState.bytes(of: saved))) == expected)
    }

    @Test("Implausible numbers of a learned appliance are dropped")
    func implausibleAppliances() throws {
        var saved = SavedState(StoredRuleState(), at: SampleMemory.moment)
        saved.engine.appliances = [
            .with {
                $0.plug = "Washer"
                ($0.pauses, $0.rests) = (Array(repeating: .max, count: 99), Array(repeating: 1, count: 1_000))
                ($0.endLevel, $0.standbyLevel, $0.peakLevel) = (.min, .max, -1)
                ($0.compressor.level, $0.compressor.run) = (.max, .min)
            }
        ]
        let header = StoredRuleState.magic + [StoredRuleState.version]
        let profile = try read(StoredRuleState.sealed(header + StoredRuleState.bytes(of: saved))).engine.appliances[0]
            .profile
        #expect(profile.pauses == Array(repeating: .max, count: 16) && profile.rests.count <= 96)
        #expect(profile.endLevel == nil && profile.standbyLevel == nil && profile.peakLevel == nil)
        #expect(profile.compressor == nil)
    }

    @Test("Random states are unchanged after they were written and read")
    func random() throws {
        for seed in 0..<500 {
            var generator = StateGenerator(seed: UInt64(seed))
            let state = generator.state()
            #expect(try read(state.encoded(at: SampleMemory.moment)) == state, "seed \(seed)")
        }
    }

    @Test("A file of a later version is rejected, and the error names both versions")
    func laterVersion() throws {
        var bytes = Array(SampleMemory.full.encoded(at: SampleMemory.moment).dropLast(StoredRuleState.hashLength))
        bytes[StoredRuleState.magic.count] = StoredRuleState.version + 1
        let error = #expect(throws: StateDecodingError.self) { try read(StoredRuleState.sealed(bytes)) }
        #expect(error == .version(6))
        #expect(error?.description == "it has format 6, but this program reads only up to 5")
    }

    @Test("A field that this version does not know is ignored")
    func unknownField() throws {
        let bytes = SampleMemory.full.encoded(at: SampleMemory.moment).dropLast(StoredRuleState.hashLength)
        // The field 100 as a number.
        #expect(try read(StoredRuleState.sealed(bytes + [0xA0, 0x06, 0x01])) == SampleMemory.full)
    }

    @Test(
        "A file with a correct hash is rejected if a byte is added, and up to version 4 if its end is missing",
        arguments: 1...5)
    func length(version: Int) throws {
        let whole =
            version == 5
            ? SampleMemory.full.encoded(at: SampleMemory.moment) : try SampleMemory.file(version: version)
        let bytes = Array(whole.dropLast(StoredRuleState.hashLength))
        for count in 0..<bytes.count where version < 5 {
            #expect(throws: StateDecodingError.self, "\(count) bytes") {
                try read(StoredRuleState.sealed(Array(bytes[..<count])))
            }
        }
        #expect(throws: version == 5 ? StateDecodingError.malformed : .tooLong(at: bytes.count)) {
            try read(StoredRuleState.sealed(bytes + [0]))
        }
    }

    @Test(
        "A file with wrong values and a correct hash is rejected, or read as a state that can be stored",
        arguments: 1...5)
    func wrongValues(version: Int) throws {
        let whole =
            version == 5
            ? SampleMemory.full.encoded(at: SampleMemory.moment) : try SampleMemory.file(version: version)
        let body = (StoredRuleState.magic.count + 1)..<(whole.count - StoredRuleState.hashLength)
        var random = SeededRandom(seed: UInt64(version))
        var readable = 0
        for _ in 0..<2000 {
            var bytes = Array(whole[..<body.upperBound])
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[.random(in: body, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let state = try? read(StoredRuleState.sealed(bytes)) else { continue }
            // The first reading clamps times that are centuries away.
            let cut = try read(state.encoded(at: SampleMemory.moment))
            #expect(try read(cut.encoded(at: SampleMemory.moment)) == cut)
            readable += 1
        }
        #expect(readable > 100)
    }
}

/// Draws states that can be stored unchanged.
private struct StateGenerator {
    private var random: SeededRandom
    private let now = SampleMemory.moment.instant

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func state() -> StoredRuleState {
        var state = StoredRuleState()
        state.plugs = list { .init(id: $0.plugID(), name: $0.text(), cursor: $0.maybe { $0.random.next() }) }
        state.engine = engine()
        state.commands = list { $0.command() }
        state.deferred = list { $0.command() }
        state.effects = list { generator in
            let request = EffectRequest(
                id: generator.id(), effect: generator.effect(), firing: generator.firing())
            return .init(request: request, until: generator.future())
        }
        for call: StoredRuleState.Call in list({ generator in
            let handler = ScriptHandler(script: generator.text(), index: generator.number(0...63))
            let call = ScriptCall(id: generator.id(), handler: handler, firing: generator.firing())
            return .init(call: call, until: generator.future())
        }) {
            _ = state.calls.append(call)
        }
        state.scripts = (0..<number(0...3)).map { script(named: "\($0).lua") }
        let names: [(String, PlugID)] = list { ($0.text(), $0.plugID()) }
        state.names = BoundNames(Dictionary(names) { first, _ in first })
        return state
    }

    private mutating func script(named name: String) -> StoredRuleState.Script {
        var script = StoredRuleState.Script(name: name)
        script.state = maybe { "[\"\($0.text())\"]" }
        script.timers = list { .init(name: $0.text(), end: $0.future(), startedBy: $0.id()) }
        script.timers.sort { $0.end < $1.end }
        script.commands = list { $0.past() }
        script.commands.sort()
        script.until = maybe { $0.future() }
        return script
    }

    private mutating func engine() -> EngineMemory {
        var engine = EngineMemory()
        let fired: [(String, [Instant])] = list { ($0.text(), $0.list { $0.past() }) }
        engine.fired = Dictionary(fired) { first, _ in first }
        engine.dwells = list {
            .init(
                rule: $0.text(), trigger: $0.text(), plug: $0.text(),
                boot: $0.maybe { BootID(bytes: $0.id().bytes)! }, since: $0.any(), latest: $0.any(),
                value: .random(in: -5000...5000, using: &$0.random))
        }
        engine.runs = list {
            .init(
                firing: $0.firing(), actions: $0.text(), next: $0.number(0...9), until: $0.maybe { $0.future() })
        }
        engine.savedStates = list {
            .init(
                plug: $0.text(), rule: $0.text(), firing: $0.id(), on: .random(using: &$0.random),
                level: $0.maybe { $0.level() })
        }
        engine.energies = list { generator in
            let fired: [String] = generator.list { $0.text() }
            let known: [String] = generator.list { $0.text() }
            return .init(
                plug: generator.text(),
                period: EnergyThreshold.Period.allCases.randomElement(using: &generator.random)!,
                number: Int64(generator.number(-99...99_999)),
                milliwattHours: .random(in: 0...PlugWire.greatestEnergy, using: &generator.random),
                fired: Set(fired), known: Set(known))
        }
        engine.occurrences = list {
            .init(rule: $0.text(), trigger: $0.text(), number: Int64($0.number(-99...1 << 40)))
        }
        let disabled: [String] = list { $0.text() }
        engine.disabled = Set(disabled)
        engine.judgedUntil = maybe { $0.past() }
        engine.appliances = list { .init(plug: $0.text(), profile: $0.profile()) }
        return engine
    }

    private mutating func profile() -> ApplianceProfile {
        var profile = ApplianceProfile()
        profile.pauses = list { UInt16($0.number(0...65_535)) }
        profile.pauseLevels = list { UInt8($0.number(0...255)) }
        profile.rests = list { generator in
            ProgrammeRest(numbers: (0..<6).map { _ in UInt16(generator.number(0...65_535)) })!
        }
        profile.endLevel = maybe { Int32($0.number(0...100)) }
        profile.standbyLevel = maybe { Int32($0.number(0...100)) }
        profile.peakLevel = maybe { Int32($0.number(0...30_000)) }
        profile.compressor = maybe {
            .init(
                runs: UInt16($0.number(0...999)), level: Int32($0.number(1...5_000)),
                runMilliseconds: Int64($0.number(1...9_999_999)), periodMilliseconds: Int64($0.number(1...9_999_999)),
                varies: .random(using: &$0.random))
        }
        return profile
    }

    private mutating func command() -> StoredRuleState.Command {
        let command: PlugCommand =
            switch number(0...3) {
            case 0: .setRelay(on: .random(using: &random), autoOff: maybe { $0.duration() })
            case 1: .setLevel(level(), transition: duration())
            case 2: .identify
            case _: .resetProtection
            }
        return .init(
            request: CommandRequest(id: id(), plug: text(), command: command), plug: maybe { $0.plugID() },
            rule: text(), cause: text(), event: maybe { $0.random.next() }, until: future())
    }

    private mutating func effect() -> EffectRequest.Effect {
        switch number(0...3) {
        case 0: .notify(title: text(), text: text())
        case 1: .run(list { $0.text() }, timeout: duration())
        case 2: .wake(text())
        case _: .webHook(WebHook(url: text(), method: text(), body: maybe { $0.text() }))
        }
    }

    private mutating func firing() -> Firing {
        let cause = Firing.Cause(
            .told(text()), plug: maybe { $0.text() }, value: maybe { .random(in: -1...1, using: &$0.random) },
            event: maybe { $0.random.next() }, age: maybe { $0.duration() }, since: maybe { $0.past() })
        var firing = Firing(id: id(), rule: text(), cause: cause, time: past())
        firing.judged = list { .random(using: &$0.random) }
        return firing
    }

    // MARK: - Values

    private mutating func list<Value>(_ draw: (inout StateGenerator) -> Value) -> [Value] {
        var values: [Value] = []
        for _ in 0..<number(0...3) { values.append(draw(&self)) }
        return values
    }

    private mutating func maybe<Value>(_ draw: (inout StateGenerator) -> Value) -> Value? {
        random.chance(0.5) ? draw(&self) : nil
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    private mutating func text() -> String {
        let pieces = ["", "", "a", "Büro", "\n", "\u{0}", "🔌", "\"", "risesAbove 5 W", "e\u{301}"]
        return (0..<number(0...4)).map { _ in pieces[number(0...pieces.count - 1)] }.joined()
    }

    private mutating func id() -> RequestID { RequestID(drawnFrom: &random) }
    private mutating func plugID() -> PlugID { PlugID(drawnFrom: &random) }
    private mutating func level() -> DimLevel { DimLevel(permille: number(0...1000))! }
    private mutating func duration() -> Duration { .nanoseconds(number(0...1 << 40)) }
    private mutating func any() -> Instant { Instant(nanoseconds: Int64(truncatingIfNeeded: random.next())) }
    /// A time within the last 50 s.
    private mutating func past() -> Instant { now - .nanoseconds(number(0...50_000_000_000)) }
    /// A time within the next 100 s.
    private mutating func future() -> Instant { now + .nanoseconds(number(0...100_000_000_000)) }
}
