import PlugModel
import Testing

@testable import Presentation

@Suite struct CommandBodyTests {
    private func text(_ command: PlugCommand) -> String? {
        CommandBody(command).map { "\($0.place) \($0.json)" }
    }

    @Test("A command is encoded as the path and body of the API") func commandsAreWhatTheAPITakes() {
        #expect(text(.setRelay(on: false, autoOff: nil)) == #"relay {"on":false}"#)
        #expect(text(.setRelay(on: true, autoOff: .seconds(600))) == #"relay {"autoOff":600,"on":true}"#)
        #expect(text(.setLevel(DimLevel(percent: 30), transition: .zero)) == #"level {"level":30,"over":0}"#)
        let slowly = PlugCommand.setLevel(DimLevel(percent: 0.5), transition: .milliseconds(250))
        #expect(text(slowly) == #"level {"level":0.5,"over":0.25}"#)
        #expect(text(.resetProtection) == "protection/reset {}")
        #expect(text(.identify) == "identify {}")
    }

    @Test("The record of a connected plug is converted to the plug's state") func aConnectedPlugHasAStateForCommands() {
        var plug = PlugRecord(plug: "Lamp", state: "connected")
        (plug.on, plug.level, plug.tripped) = (true, 40, "overPower")
        #expect(PlugState(plug) == PlugState(relayOn: true, level: DimLevel(percent: 40), tripped: .overPower))
    }

    @Test("A record of an absent plug or without relay state is not converted") func ofAPlugThatIsAwayNothingIsKnown() {
        var plug = PlugRecord(plug: "Lamp", state: "away")
        plug.on = true
        #expect(PlugState(plug) == nil)
        #expect(PlugState(PlugRecord(plug: "Lamp", state: "connected")) == nil)
    }
}
