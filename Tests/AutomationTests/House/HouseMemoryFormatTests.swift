import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("The stored format of the rules' memory")
struct HouseMemoryFormatTests {
    private static let boots = [UInt8(1), 2].map { BootID(bytes: [UInt8](repeating: $0, count: 16))! }
    private static let then = HostMoment(boot: boots[0], instant: .at(100), nanosecondsSince1970: 5_000_000_000)

    private static func memory() -> StoredRuleState {
        var memory = StoredRuleState()
        var random = SeededRandom(seed: 1)
        for (name, cursor) in [("Hall", 7), ("Büro \"Lampe\"\n", nil), ("", SequenceNumber.max)] as [(_, UInt64?)] {
            memory.plugs.append(.init(id: PlugID(drawnFrom: &random), name: name, cursor: cursor))
        }
        memory.engine.fired = ["By button": [.at(99)], "Movie night": [.at(-4), .at(-3)]]
        memory.engine.disabled = ["Alarm"]
        let commands: [PlugCommand] = [
            .setRelay(on: true, autoOff: nil), .setRelay(on: false, autoOff: .seconds(3)), .identify,
            .resetProtection,
            .setLevel(DimLevel(percent: 30), transition: .milliseconds(1500)),
        ]
        for (index, command) in commands.enumerated() {
            let request = CommandRequest(id: RequestID(drawnFrom: &random), plug: "Lamp", command: command)
            memory.commands.append(
                .init(
                    request: request, plug: PlugID(drawnFrom: &random), rule: "By button",
                    cause: "Hall: button pressed (single)", event: index == 0 ? nil : UInt64(index),
                    until: .at(105 + Double(index))))
        }
        let command = memory.commands[0]
        var deferred = command
        (deferred.plug, deferred.request.plug, deferred.until) = (nil, "Garage", .at(3600))
        memory.deferred = [deferred]
        var cause = Firing.Cause(.told("Hall: button pressed"), plug: "Hall", value: 41.5, since: .at(98))
        cause.age = .milliseconds(20)
        var firing = Firing(id: RequestID(drawnFrom: &random), rule: "By button", cause: cause, time: .at(99))
        firing.judged = [true, false]
        let effects: [EffectRequest.Effect] = [
            .notify(title: "Hall", text: "pressed"), .run(["beep", "-n", "2"], timeout: .seconds(30)),
            .webHook(WebHook(url: "https://host/path", method: "PUT", body: "{}")),
            .webHook(WebHook(url: "https://host/path")),
        ]
        for effect in effects {
            let request = EffectRequest(id: RequestID(drawnFrom: &random), effect: effect, firing: firing)
            memory.effects.append(.init(request: request, until: .at(400)))
        }
        for number in 0..<3 {
            let handler = ScriptHandler(script: "hall.lua", index: number)
            let call = ScriptCall(id: RequestID(drawnFrom: &random), handler: handler, firing: firing)
            _ = memory.calls.append(.init(call: call, until: .at(500 + Double(number))))
        }
        var script = StoredRuleState.Script(name: "hall.lua")
        script.state = "{\"n\":1}"
        script.timers = [90, 130].map { .init(name: "t\($0)", end: .at($0), startedBy: command.request.id) }
        script.commands = [.at(50), .at(99)]
        var away = StoredRuleState.Script(name: "other.lua")
        away.until = .at(5000)
        memory.scripts = [script, away]
        memory.names = BoundNames(["Hall": memory.plugs[0].id, "Büro": memory.plugs[1].id])
        return memory
    }

    private static let bytes = memory().encoded(at: then)

    private func read(boot: BootID = boots[0], at seconds: Double, wall: Int64) throws -> StoredRuleState {
        let now = HostMoment(boot: boot, instant: .at(seconds), nanosecondsSince1970: wall * 1_000_000_000)
        return try StoredRuleState(decoding: Self.bytes, at: now)
    }

    @Test("In the same boot the memory is read unchanged, whatever the wall clock shows")
    func same() throws {
        #expect(try read(at: 102, wall: 5) == Self.memory())
        #expect(try read(at: 102, wall: 0) == Self.memory())
    }

    @Test(
        """
        In a new boot, times are shifted by the wall clock; if it shows a time before the write, waits continue as if \
        no time had passed, and commands expire
        """
    )
    func anotherBoot() throws {
        // The memory was written at 100 s of the previous boot, 3 s ago. The new boot began 1 s ago.
        let later = try read(boot: Self.boots[1], at: 1, wall: 8)
        #expect(later.engine.fired == ["By button": [.at(-3)], "Movie night": [.at(-106), .at(-105)]])
        #expect(later.deferred.map(\.until) == [.at(3498)])
        #expect(later.effects.map(\.request.firing.time) == Array(repeating: .at(-3), count: 4))
        #expect(later.commands.map(\.until) == [.at(3), .at(4), .at(5), .at(6), .at(7)])
        #expect(later.plugs == Self.memory().plugs)
        #expect(later.calls.elements.map(\.until) == [.at(398), .at(399), .at(400)])
        #expect(later.calls.elements.map(\.call.firing.time) == Array(repeating: .at(-3), count: 3))
        #expect(later.scripts[0].timers.map(\.end) == [.at(-12), .at(28)])
        #expect(later.scripts[0].commands == [.at(-52), .at(-3)] && later.scripts[1].until == .at(4898))
        let unknown = try read(boot: Self.boots[1], at: 1, wall: 4)
        #expect(unknown.engine.fired == ["By button": [.at(1)], "Movie night": [.at(1), .at(1)]])
        #expect(unknown.commands.allSatisfy { $0.until == .at(1) })
        #expect(unknown.deferred.map(\.until) == [.at(3501)])
        #expect(unknown.calls.elements.map(\.until) == [.at(401), .at(402), .at(403)])
        #expect(unknown.scripts[0].timers.map(\.end) == [.at(-9), .at(31)])
        #expect(unknown.effects.allSatisfy { $0.until == .at(301) && $0.request.firing.time == .at(0) })
    }

    @Test("Without a wall clock, waits and the turn-offs after them continue as if no time had passed")
    func clockless() throws {
        var memory = Self.memory()
        let firing = memory.effects[0].request.firing
        memory.engine.runs = [.init(firing: firing, actions: "0", next: 1, until: .at(700))]
        memory.engine.judgedUntil = .at(99)
        memory.commands[0].until = .at(50_000)
        let now = HostMoment(boot: Self.boots[1], instant: .at(1), nanosecondsSince1970: 0)
        let read = try StoredRuleState(decoding: memory.encoded(at: Self.then), at: now)
        #expect(read.engine.runs.map(\.until) == [.at(601)] && read.engine.judgedUntil == .at(1))
        #expect(read.commands[0].until == .at(49_901) && read.commands[1].until == .at(1))
    }

    @Test("A memory beyond the limit is stored without its least important parts, which are reported")
    func room() throws {
        var memory = Self.memory()
        #expect(memory.stored(at: Self.then).missing == nil)
        let firing = memory.effects[0].request.firing
        memory.engine.runs = [.init(firing: firing, actions: "0", next: 1, until: .at(700))]
        for number in 0..<600 { memory.engine.fired["\(number)"] = Array(repeating: .at(1), count: 1000) }
        let (bytes, missing) = memory.stored(at: Self.then)
        #expect(missing?.hasSuffix("limited to 4 MiB, so it is stored without the times of earlier firings") == true)
        let read = try StoredRuleState(decoding: bytes, at: Self.then)
        #expect(read.engine.fired["599"] == [.at(1)] && read.engine.runs == memory.engine.runs)
        memory.commands = Array(repeating: memory.commands[0], count: StoredRuleState.maximumCommands + 1)
        let more = try StoredRuleState(decoding: memory.encoded(at: Self.then), at: Self.then)
        #expect(more.commands.count == StoredRuleState.maximumCommands)
    }

    @Test("A stored deadline is lowered to the latest deadline that a new command or effect can have")
    func clamped() throws {
        var memory = Self.memory()
        memory.commands[0].until = .at(1_000_000)
        memory.effects[0].until = .at(10_000)
        let read = try StoredRuleState(decoding: memory.encoded(at: Self.then), at: Self.then)
        #expect(read.commands[0].until == .at(86_500) && read.effects[0].until == .at(700))
    }

    @Test("A memory that contains a script twice is rejected; times of commands from over a minute ago are left out")
    func twice() throws {
        var memory = Self.memory()
        memory.scripts[1] = memory.scripts[0]
        #expect(throws: StateDecodingError.self) {
            try StoredRuleState(decoding: memory.encoded(at: Self.then), at: Self.then)
        }
        memory.scripts.removeLast()
        var later = Self.then
        later.instant = .at(112)
        let read = try StoredRuleState(decoding: memory.encoded(at: later), at: later)
        #expect(read.scripts[0].commands == [.at(99)])
    }

    @Test("A full memory is smaller than the limit of the file")
    func size() throws {
        var memory = StoredRuleState()
        var random = SeededRandom(seed: 2)
        let name = String(repeating: "n", count: 63)
        for number in 0..<StoredRuleState.maximumPlugs {
            memory.plugs.append(.init(id: PlugID(drawnFrom: &random), name: name, cursor: UInt64(number)))
        }
        for number in 0..<2000 {
            let name = "\(number)" + String(repeating: "r", count: 300)
            memory.engine.fired[name] = Array(repeating: .at(Double(number)), count: 100)
        }
        memory.engine.disabled = ["Alarm"]
        var command = Self.memory().commands[0]
        command.cause = String(repeating: "ü", count: 1000)
        memory.commands = Array(repeating: command, count: StoredRuleState.maximumCommands)
        memory.deferred = Array(repeating: command, count: StoredRuleState.maximumDeferred)
        var effect = Self.memory().effects[0]
        effect.request.effect = .notify(title: "", text: String(repeating: "t", count: 8192))
        memory.effects = Array(repeating: effect, count: StoredRuleState.maximumEffects)
        var call = Self.memory().calls.elements[0]
        call.call.firing.cause.source = .told(String(repeating: "w", count: 300))
        call.call.firing.judged = Array(repeating: true, count: 1024)
        for _ in 0..<ScriptLimits.calls {
            call.call.id = RequestID(drawnFrom: &random)
            _ = memory.calls.append(call)
        }
        for number in 0..<ScriptLimits.scripts {
            var script = StoredRuleState.Script(name: "\(number)" + String(repeating: "s", count: 250))
            script.state = String(repeating: "x", count: ScriptLimits.stateSize)
            script.timers = (0..<ScriptLimits.timers).map {
                .init(name: "\($0)" + String(repeating: "t", count: 197), end: .at(200), startedBy: call.call.id)
            }
            script.commands = Array(repeating: .at(99), count: ScriptLimits.commands)
            memory.scripts.append(script)
        }
        let bound = (0..<BoundNames.limit).map { ("\($0)" + String(repeating: "b", count: 250), memory.plugs[0].id) }
        memory.names = BoundNames(Dictionary(uniqueKeysWithValues: bound))
        let bytes = memory.encoded(at: Self.then)
        #expect(bytes.count < StoredRuleState.sizeLimit)
        let read = try StoredRuleState(decoding: bytes, at: Self.then)
        #expect(read.plugs == memory.plugs && read.deferred.count == 256 && read.effects == memory.effects)
        #expect(read.commands[1023].cause == String(repeating: "ü", count: 127))
        #expect(read.engine.disabled == ["Alarm"])
        #expect(read.calls.count == 1024 && read.scripts == memory.scripts)
        #expect(read.names == memory.names)
    }

    @Test("Every missing, added or changed byte is detected")
    func damage() {
        func fault(_ bytes: [UInt8]) -> StateDecodingError? {
            do {
                _ = try StoredRuleState(decoding: bytes, at: Self.then)
                return nil
            } catch {
                return error
            }
        }
        for count in Self.bytes.indices { #expect(fault(Array(Self.bytes[..<count])) != nil, "\(count) bytes") }
        #expect(fault(Self.bytes + [0]) == .checksum)
        for index in Self.bytes.indices {
            var bytes = Self.bytes
            bytes[index] ^= 0x20
            #expect(fault(bytes) != nil, "byte \(index)")
        }
    }
}
