import ApplianceSense
import Checkout
import Foundation
import PlugModel
import ProtocolCore

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// A stored state with every kind of content, and its files in the formats of earlier versions of this program.
enum SampleMemory {
    static let boot = BootID(bytes: [UInt8](repeating: 1, count: 16))!
    static let moment = HostMoment(boot: boot, instant: .at(100), nanosecondsSince1970: 5_000_000_000)

    /// Returns the file of a format version from the folder `Stored`.
    static func file(version: Int) throws -> [UInt8] {
        let file = Checkout.place("Tests/AutomationTests/House/Stored/version-\(version).rules")
        return Array(try Data(contentsOf: file))
    }

    static var full: StoredRuleState {
        var memory = StoredRuleState()
        var random = SeededRandom(seed: 1)
        for (name, cursor) in [("Hall", 7), ("Büro \"Lampe\"\n", nil), ("", SequenceNumber.max)] as [(_, UInt64?)] {
            memory.plugs.append(.init(id: PlugID(drawnFrom: &random), name: name, cursor: cursor))
        }
        let commands: [PlugCommand] = [
            .setRelay(on: true, autoOff: nil), .setRelay(on: false, autoOff: .seconds(3)), .identify,
            .resetProtection, .setRelay(on: true, autoOff: .zero),
            .setLevel(DimLevel(percent: 30), transition: .milliseconds(1500)), .setLevel(.zero, transition: .zero),
        ]
        for (index, command) in commands.enumerated() {
            let request = CommandRequest(id: RequestID(drawnFrom: &random), plug: "Lamp", command: command)
            memory.commands.append(
                .init(
                    request: request, plug: PlugID(drawnFrom: &random), rule: "By button",
                    cause: "Hall: button pressed (single)", event: index == 0 ? nil : UInt64(index - 1),
                    until: .at(105 + Double(index))))
        }
        var deferred = memory.commands[0]
        (deferred.plug, deferred.request.plug, deferred.until) = (nil, "Garage", .at(3600))
        memory.deferred = [deferred, memory.commands[1]]
        var cause = Firing.Cause(.told("Hall: button pressed"), plug: "Hall", value: 41.5, since: .at(98))
        cause.age = .milliseconds(20)
        var firing = Firing(id: RequestID(drawnFrom: &random), rule: "By button", cause: cause, time: .at(99))
        firing.judged = [true, false]
        let zeros = Firing.Cause(.told(""), plug: "", value: 0, event: 0, age: .zero, since: .zero)
        let bare = Firing(id: RequestID(drawnFrom: &random), rule: "", cause: zeros, time: .zero)
        let effects: [EffectRequest.Effect] = [
            .notify(title: "Hall", text: "pressed"), .run(["beep", "-n", ""], timeout: .seconds(30)),
            .webHook(WebHook(url: "https://host/path", method: "PUT", body: "{}")),
            .webHook(WebHook(url: "https://host/path")), .webHook(WebHook(url: "", method: "", body: "")),
        ]
        for effect in effects {
            let request = EffectRequest(id: RequestID(drawnFrom: &random), effect: effect, firing: firing)
            memory.effects.append(.init(request: request, until: .at(400)))
        }
        for number in 0..<3 {
            let handler = ScriptHandler(script: "hall.lua", index: number)
            let call = ScriptCall(
                id: RequestID(drawnFrom: &random), handler: handler, firing: number == 2 ? bare : firing)
            _ = memory.calls.append(.init(call: call, until: .at(500 + Double(number))))
        }
        var script = StoredRuleState.Script(name: "hall.lua")
        script.state = "{\"n\":1}"
        script.timers = [90, 130].map {
            .init(name: "t\($0)", end: .at($0), startedBy: memory.commands[0].request.id)
        }
        script.commands = [.at(50), .at(99)]
        var away = StoredRuleState.Script(name: "other.lua")
        (away.state, away.until) = ("", .at(5000))
        memory.scripts = [script, away, .init(name: "empty.lua")]
        memory.names = BoundNames(["Hall": memory.plugs[0].id, "Büro": memory.plugs[1].id])
        let wake = EffectRequest(id: RequestID(drawnFrom: &random), effect: .wake("Media Server"), firing: firing)
        memory.effects.append(.init(request: wake, until: .at(400)))
        memory.engine = engine(firing, bare)
        return memory
    }

    private static var appliances: [EngineMemory.Appliance] {
        var washer = ApplianceProfile()
        (washer.pauses, washer.pauseLevels) = ([0, 300, .max], [0, 34, .max])
        washer.rests = [[300, 2_400, 650, 80, 110, 34], [0, 5_100, 660, 20, 95, 3]].compactMap {
            ProgrammeRest(numbers: $0)
        }
        (washer.endLevel, washer.standbyLevel, washer.peakLevel) = (0, 5, 23_000)
        var refrigerator = ApplianceProfile()
        refrigerator.compressor = .init(
            runs: 12, level: 1_350, runMilliseconds: 800_000, periodMilliseconds: 3_200_000, varies: true)
        return [
            .init(plug: "Washer", profile: washer), .init(plug: "Fridge", profile: refrigerator),
            .init(plug: "", profile: ApplianceProfile()),
        ]
    }

    private static func engine(_ firing: Firing, _ bare: Firing) -> EngineMemory {
        var engine = EngineMemory()
        engine.fired = ["By button": [.at(99)], "Movie night": [.at(-4), .at(-3)], "Never": []]
        engine.dwells = [
            .init(
                rule: "Movie night", trigger: "power above 50 W", plug: "aaaaaaaaaaaa", boot: boot, since: .at(7),
                latest: .at(9), value: 80.25),
            .init(
                rule: "", trigger: "", plug: "", boot: nil, since: .zero, latest: Instant(nanoseconds: .min),
                value: -0.5
            ),
        ]
        engine.runs = [
            .init(firing: firing, actions: "00ff", next: 1, until: .at(700)),
            .init(firing: bare, actions: "", next: 0, until: nil),
        ]
        engine.savedStates = [
            .init(plug: "aaaaaaaaaaaa", rule: "By button", firing: firing.id, on: true, level: DimLevel(percent: 7)),
            .init(plug: "Lamp", rule: "By button", firing: bare.id, on: false, level: nil),
            .init(plug: "Spot", rule: "By button", firing: bare.id, on: false, level: .zero),
        ]
        engine.energies = EnergyThreshold.Period.allCases.enumerated().map { index, period in
            .init(
                plug: "plug \(index)", period: period, number: Int64(index) - 1, milliwattHours: UInt64(index) << 40,
                fired: ["Energy\nfirst"], known: ["Energy\nfirst", "Energy\nsecond"])
        }
        engine.occurrences = [
            .init(rule: "Off", trigger: "daily at 00:00", number: 20_000),
            .init(rule: "Off", trigger: "sunset", number: -1),
        ]
        engine.disabled = ["Alarm", "Off"]
        engine.judgedUntil = .at(98)
        engine.appliances = appliances
        return engine
    }
}
