import Metering
import PlugHardware
import ProtocolCore
import Recordings
import Synchronization
import TestSupport
import Testing

@Suite struct SimulatedPlugTests {
    @Test("The power of a fixed load is exact") func aFixedLoadIsExact() throws {
        let plug = TestPlug(.fixed(deciwatts: 605))
        #expect(try plug.watch(seconds: 100).allSatisfy { $0 == 60.5 })
        let measurement = try plug.plug.measure()
        let volts = try Double(#require(measurement.decivolts)) / 10
        #expect(abs(Double(try #require(measurement.milliamperes)) - 60.5 / volts * 1000) <= 1)
        plug.plug.change(load: .nothing)
        #expect(try plug.watts == 0)
    }

    @Test("The mains voltage varies slowly") func theMainsWanderSlowly() throws {
        let plug = TestPlug(.nothing)
        var volts: [Int] = []
        for _ in 0..<7200 {
            volts.append(Int(try #require(try plug.plug.measure().decivolts)))
            plug.wait(1)
        }
        #expect(volts.allSatisfy { (2276...2324).contains($0) })
        #expect(zip(volts, volts.dropFirst()).allSatisfy { abs($0 - $1) <= 8 })
        #expect(Set(volts).count > 20)
    }

    @Test("A recording plays from the moment it is plugged in, even without power")
    func aRecordingPlaysFromWhenItIsPluggedInAlsoWithoutPower() throws {
        let recording = try Recording.parse(csv: Array("0,5\n10,50\n20,500\n".utf8))
        let plug = TestPlug(.recording(try #require(Playback(recording, speed: 2))))
        #expect(try plug.watts == 5)
        plug.wait(5)
        #expect(try plug.watts == 50)
        plug.plug.set(on: false)
        #expect(try plug.watts == 0)
        plug.wait(5)
        plug.plug.set(on: true)
        #expect(try plug.watts == 500)
    }

    @Test("The button reports its edges") func theButtonTellsItsEdges() {
        let plug = TestPlug(.nothing)
        let edges = Mutex<[ButtonEdge]>([])
        plug.plug.moveButton(down: true)
        _ = plug.plug.watch { edge in edges.withLock { $0.append(edge) } }
        plug.wait(1)
        plug.plug.moveButton(down: true)
        plug.wait(0.5)
        plug.plug.moveButton(down: false)
        #expect(
            edges.withLock { $0 } == [
                ButtonEdge(down: true, time: Instant(nanoseconds: 1_000_000_000)),
                ButtonEdge(down: false, time: Instant(nanoseconds: 1_500_000_000)),
            ])
    }

    @Test("The parts include a dimmer only if requested") func partsSayWhetherThereIsADimmer() throws {
        let plug = TestPlug(.nothing, relayOn: false).plug
        #expect(plug.parts(dimmable: false).dimmer == nil)
        let parts = plug.parts(dimmable: true)
        #expect(parts.dimmer != nil)
        try parts.relay?.set(on: true)
        try parts.lamp?.set(lit: true)
        #expect(plug.isRelayOn && plug.isLit)
    }
}

@Suite struct LoadTextTests {
    private func message(_ text: String, replacing current: PluggedLoad = .nothing) -> String? {
        do {
            _ = try PluggedLoad.parse(text, replacing: current)
            return nil
        } catch { return error.description }
    }

    @Test(
        "A load is parsed from text",
        arguments: [
            ("television", .appliance(.television, .standby)), ("Television ON", .appliance(.television, .on)),
            ("washing-machine", .appliance(.washingMachine, .on)), ("kettle", .appliance(.kettle, .off)),
            ("60 W", .fixed(deciwatts: 600)), ("60.25w", .fixed(deciwatts: 603)), ("0", .fixed(deciwatts: 0)),
            ("unplugged", .nothing), ("  on ", .appliance(.lamp, .on)), ("off", .appliance(.lamp, .off)),
        ] as [(String, PluggedLoad)])
    func whatAPersonSays(text: String, load: PluggedLoad) throws {
        #expect(try PluggedLoad.parse(text, replacing: .appliance(.lamp, .on)) == load)
    }

    @Test("The description of every load can be parsed") func everyDescriptionCanBeSaidAgain() throws {
        var loads: [PluggedLoad] = [.nothing, .fixed(deciwatts: 605)]
        for appliance in SimulatedAppliance.allCases { loads += appliance.modes.map { .appliance(appliance, $0) } }
        for load in loads { #expect(try PluggedLoad.parse(load.description) == load) }
    }

    @Test("Errors list the possible loads") func errorsNameWhatIsPossible() {
        let appliances = "television, amplifier, refrigerator, washing-machine, kettle, lamp, laptop"
        #expect(
            message("toaster")
                == "\"toaster\" is not a valid load. Possible loads: an appliance (\(appliances)); watts such as \"60 W\"; unplugged."
        )
        #expect(
            message("", replacing: .appliance(.kettle, .on))
                == "\"\" is not a valid load. Possible loads: off, on (of the kettle); an appliance (\(appliances)); watts such as \"60 W\"; unplugged."
        )
        #expect(
            message("standby", replacing: .appliance(.kettle, .on))
                == "A kettle cannot be set to \"standby\", only to off, on.")
        #expect(message("kettle boil") == "A kettle cannot be set to \"boil\", only to off, on.")
        #expect(
            message("on")?.hasPrefix("The load (unplugged) cannot be set to \"on\". Possible loads: ") == true)
        #expect(message("30000 W") == "30000 W is out of range; 0 W to 25000 W are allowed.")
        #expect(message("-5") == "-5 is out of range; 0 W to 25000 W are allowed.")
        #expect(message("nan") != nil)
        #expect(message("television on now") != nil)
    }

    @Test("Random text never causes a trap") func fuzzedTextNeverTraps() {
        var random = Fuzzing.random(13)
        let words = [
            "on", "off", "kettle", "60", "W", "1e9", "-", ".", "", "nan", "television", "\u{0}", "é", "999999999999",
        ]
        for _ in FuzzRounds(3000) {
            let text = (0..<Int.random(in: 0...4, using: &random)).map { _ in words.randomElement(using: &random)! }
                .joined(separator: random.chance(0.7) ? " " : "")
            if let message = message(text) { #expect(!message.isEmpty) }
        }
    }
}
