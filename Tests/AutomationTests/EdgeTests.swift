import PlugModel
import ProtocolCore
import RuleModel
import Testing

@Suite("Edges of active power")
struct EdgeTests {
    @Test("Rising above the threshold fires once, with time, value and command")
    func rises() throws {
        var house = VirtualHouse(.television())
        house.appear("Amplifier", on: false, at: 0)
        house.appear("Television", watts: 1.2, at: 0)
        house.read("Television", 1.3, at: 1)
        house.read("Television", 40, at: 2)
        house.read("Television", 83.2, at: 3)
        house.read("Television", 85, at: 4)
        #expect(house.firings == ["3.0 Movie night"])
        guard case .fired(let firing) = house.log.first?.action else {
            Issue.record("nothing fired")
            return
        }
        #expect(firing.rule == "Movie night" && firing.time == .at(3) && firing.cause.plug == "Television")
        #expect(firing.cause.value == 83.2 && firing.cause.since == .at(3))
        #expect(house.requests.map(\.plug) == ["Amplifier"])
        #expect(house.requests.map(\.command) == [.setRelay(on: true, autoOff: nil)])
        #expect(firing.cause.description == "Television rose above 40 W (now 83.2 W)")
    }

    @Test("Falling below the threshold fires once")
    func falls() {
        var house = VirtualHouse(.television(.fallsBelow, 20))
        house.appear("Television", watts: 80, at: 0)
        house.read("Television", 20, at: 1)
        house.read("Television", 19.9, at: 2)
        house.read("Television", 1, at: 3)
        #expect(house.firings == ["2.0 Movie night"])
    }

    @Test("Noise around the threshold fires once; the trigger is armed again at the threshold minus the hysteresis")
    func hysteresis() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 1, at: 0)
        for (second, watts) in [41, 39, 41, 38.1, 42, 38, 39.9, 40.1].enumerated() {
            house.read("Television", watts, at: Double(second + 1))
        }
        #expect(house.firings == ["1.0 Movie night", "8.0 Movie night"])
    }

    @Test(
        "The default hysteresis is 5 % of the threshold, at least 0.5 W, and at most half of the threshold",
        arguments: [(40, 2), (1000, 50), (5, 0.5), (0.4, 0.2), (0, 0), (-100, 5)])
    func defaultHysteresis(watts: Double, expected: Double) {
        #expect(PowerThreshold(.risesAbove, watts: watts).hysteresis == expected)
    }

    @Test("A trigger whose threshold is below 0.5 W, the usual minimum of the hysteresis, can still be armed")
    func smallThreshold() {
        var house = VirtualHouse(.television(.risesAbove, 0.4))
        house.appear("Television", watts: 0.2, at: 0)
        house.read("Television", 0.5, at: 1)
        #expect(house.firings == ["1.0 Movie night"])
    }

    @Test("A plug that appears above the threshold does not fire until the next rise")
    func firstReading() {
        var house = VirtualHouse(.television())
        house.appear("Television", at: 0)
        house.read("Television", 80, at: 1)
        house.read("Television", 81, at: 2)
        house.read("Television", 1, at: 3)
        house.read("Television", 80, at: 4)
        #expect(house.firings == ["4.0 Movie night"])
    }

    @Test("A first reading within the hysteresis does not arm the trigger")
    func firstReadingInBand() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 39.9, at: 0)
        house.read("Television", 40.1, at: 1)
        #expect(house.firings.isEmpty)
    }

    @Test("A plug that returns above the threshold does not fire")
    func reappearance() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 1, at: 0)
        house.at(1, .plugLost(plug: "Television"))
        house.read("Television", 80, at: 2)
        house.appear("Television", watts: 80, at: 3)
        house.read("Television", 81, at: 4)
        #expect(house.firings.isEmpty)
    }

    @Test("A second snapshot of a plug that was not lost does not fire")
    func snapshots() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 1, at: 0)
        house.appear("Television", watts: 80, at: 1)
        house.read("Television", 1, at: 2)
        house.read("Television", 80, at: 3, isSnapshot: true)
        house.read("Television", 80, at: 4)
        #expect(house.firings.isEmpty)
    }

    @Test("A reading with an earlier time than the previous one is from a new boot and does not fire")
    func reboot() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 1, at: 100)
        house.at(101, .reading(plug: "Television", activePower: 80, time: .at(3), isSnapshot: false))
        #expect(house.firings.isEmpty)
        house.at(102, .reading(plug: "Television", activePower: 1, time: .at(4), isSnapshot: false))
        house.at(103, .reading(plug: "Television", activePower: 80, time: .at(5), isSnapshot: false))
        #expect(house.firings == ["103.0 Movie night"])
    }

    @Test("A repeated reading has no effect")
    func repeatedReading() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.at(1, .reading(plug: "Television", activePower: 80, time: .at(1), isSnapshot: false))
        house.at(2, .reading(plug: "Television", activePower: 80, time: .at(1), isSnapshot: false))
        house.run(to: 10)
        #expect(house.firings == ["4.0 Movie night"])
    }

    @Test("A NaN reading and a reading of an unknown plug do not fire, and an infinite reading counts as a rise")
    func strangeValues() {
        var house = VirtualHouse(.television())
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", .nan, at: 1)
        house.read("Toaster", 900, at: 2)
        house.at(3, .plugLost(plug: "Toaster"))
        house.turn("Toaster", on: true, at: 3)
        #expect(house.firings.isEmpty)
        house.read("Television", .infinity, at: 4)
        #expect(house.firings == ["4.0 Movie night"])
    }

    @Test("An event that matches two triggers of a rule fires it once")
    func oneFiringPerEvent() {
        let rule = Rule(
            name: "Either",
            triggers: [
                .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40)),
                .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 50)),
            ], actions: [.toggle(["Television"])])
        var house = VirtualHouse(rule)
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        #expect(house.requests.count == 1)
    }
}
