import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite struct SavedStatesTests {
    private static let on = PlugCommand.setRelay(on: true, autoOff: nil)

    private static func plugs(on: Bool, level: DimLevel? = nil) -> PlugTable {
        var plugs = PlugTable()
        _ = plugs.appear("Lamp", PlugState(relayOn: on, level: level), boot: nil, id: nil)
        return plugs
    }

    @Test("The state before a firing's first change is stored, and is removed when it is restored")
    func restores() {
        var states = SavedStates()
        let plug = Self.plugs(on: false)[0]
        states.save(plug, before: Self.on, origin: 1, rule: "Rule")
        #expect(states.stored.map(\.on) == [false] && states.stored.map(\.rule) == ["Rule"])
        #expect(states.remove(plug, from: nil) == .setRelay(on: false, autoOff: nil))
        #expect(states.remove(plug, from: nil) == nil)
        #expect(states.stored.isEmpty)
    }

    @Test("A command that does not change the plug stores no state")
    func unchanged() {
        var states = SavedStates()
        states.save(Self.plugs(on: true)[0], before: Self.on, origin: 1, rule: "Rule")
        #expect(states.stored.isEmpty)
    }

    @Test("A press of the button discards the saved state, and the rule's own command does not")
    func switched() {
        var states = SavedStates()
        var plugs = Self.plugs(on: false)
        states.save(plugs[0], before: Self.on, origin: 1, rule: "Rule")
        plugs.expect(CommandRequest(key: 9, plug: "Lamp", command: Self.on), at: 0)
        states.relaySwitched(plugs[0], cause: .controller(name: "Controller", request: RequestID(9)))
        #expect(states.stored.count == 1)
        states.relaySwitched(plugs[0], cause: .button)
        #expect(states.stored.isEmpty)
    }
}
