import Automation
import PlugModel
import ProtocolCore
import RuleModel
import Testing

@Suite("Triggers other than thresholds and buttons")
struct TriggerTests {
    private static func rule(_ triggers: Trigger..., name: String = "Rule") -> Rule {
        Rule(name: name, triggers: triggers, actions: [.turnOff(["Lamp"])])
    }

    @Test(
        "Power that enters a band and stays there fires if it was outside the band by more than the hysteresis before"
    )
    func band() {
        var house = VirtualHouse(Self.rule(.activePowerStays(plug: "Oven", PowerBand(5, 40, dwell: .seconds(3)))))
        house.appear("Oven", watts: 10, at: 0)
        for second in 1...6 { house.read("Oven", 11, at: Double(second)) }
        #expect(house.firings.isEmpty)
        house.read("Oven", 41, at: 7)
        house.read("Oven", 39, at: 8)
        house.run(to: 12)
        #expect(house.firings.isEmpty)
        house.read("Oven", 80, at: 13)
        for second in 14...18 { house.read("Oven", 20, at: Double(second)) }
        #expect(house.firings == ["17.0 Rule"])
        // The power stays in the band for less than the dwell.
        house.read("Oven", 0, at: 19)
        house.read("Oven", 20, at: 20)
        house.read("Oven", 90, at: 21)
        house.run(to: 30)
        #expect(house.firings.count == 1)
        #expect(
            house.nearMisses.map(\.description) == [
                "Oven stays between 5 W and 40 W for 3 s: it held 1 s, then the power was 90 W"
            ])
    }

    @Test("A wide band has a separate hysteresis at each end")
    func wideBand() {
        var house = VirtualHouse(Self.rule(.activePowerStays(plug: "Oven", PowerBand(5, 2000))))
        house.appear("Oven", watts: 0, at: 0)
        house.read("Oven", 1500, at: 1)
        #expect(house.firings == ["1.0 Rule"])
        // The trigger is armed if the power is more than 0.5 W below the lower end or more than 100 W above the upper
        // end.
        house.read("Oven", 4.6, at: 2)
        house.read("Oven", 2090, at: 3)
        house.read("Oven", 1500, at: 4)
        #expect(house.firings.count == 1)
        house.read("Oven", 2101, at: 5)
        house.read("Oven", 1500, at: 6)
        house.read("Oven", 4.4, at: 7)
        house.read("Oven", 5, at: 8)
        #expect(house.firings == ["1.0 Rule", "6.0 Rule", "8.0 Rule"])
        #expect(PowerBand(5, 40, hysteresis: 3).armsBelow == 2 && PowerBand(5, 40, hysteresis: 3).armsAbove == 43)
    }

    @Test("Energy per day fires once per day, counted from the start of the day")
    func energy() {
        var house = VirtualHouse(Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(100, since: .day))))
        house.appear("Heater", at: 0)
        house.clock(23, 59, at: 0)
        func heard(_ wattHours: UInt64, _ second: Double) {
            house.at(second, .energy(plug: "Heater", milliwattHours: wattHours * 1000))
        }
        heard(5000, 1)
        heard(5100, 2)
        #expect(house.firings.isEmpty)
        heard(5101, 3)
        heard(5200, 4)
        #expect(house.firings == ["3.0 Rule"])
        // The next day starts after 60 s.
        heard(5250, 59)
        heard(5260, 61)
        heard(5350, 62)
        #expect(house.firings.count == 1)
        heard(5351, 63)
        #expect(house.firings == ["3.0 Rule", "63.0 Rule"])
        // The plug's counter restarts. The rule has already fired on this day.
        heard(1, 64)
        heard(1000, 65)
        #expect(house.firings.count == 2)
    }

    /// Returns the firings of a house whose heater draws 100 W for some hours.
    ///
    /// - Parameter pieces: times in seconds from which local time has the given offset in seconds.
    private static func heated(_ threshold: Double, _ hours: Double, _ pieces: [(Double, Int64)]) -> [String] {
        var house = VirtualHouse(rule(.activeEnergy(plug: "Heater", EnergyThreshold(threshold, since: .hour))))
        let time = LocalTime(pieces: pieces.map { .init(from: .at($0), offset: $1) })
        house.at(0, .clockChanged(time, .unknown))
        house.appear("Heater", at: 0)
        for minute in 0..<Int(hours * 60) {
            house.at(
                Double(minute * 60) + 1, .energy(plug: "Heater", milliwattHours: UInt64(100_000 * minute / 60)))
        }
        return house.firings
    }

    @Test("The two passes of a repeated hour count as two hours of energy")
    func repeatedHour() {
        // It is 1:00. At 3:00 the clock is set back to 2:00.
        let berlin: [(Double, Int64)] = [(-1e6, 3600), (7200, 0)]
        #expect(Self.heated(120, 4, berlin).isEmpty)
        #expect(Self.heated(90, 4, berlin).count == 4)
        // At 2:00 the clock is set back to 1:30, so the hour from 1:00 has 90 minutes.
        let island: [(Double, Int64)] = [(-1e6, 3600), (3600, 1800)]
        #expect(Self.heated(120, 3, island) == ["4381.0 Rule"])
    }

    @Test("A clock set back over the start of an hour does not restart the previous hour")
    func hourSetBack() {
        var house = VirtualHouse(Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(100, since: .hour))))
        house.appear("Heater", at: 0)
        house.clock(12, 59, at: 0)
        house.at(1, .energy(plug: "Heater", milliwattHours: 5_000_000))
        house.at(61, .energy(plug: "Heater", milliwattHours: 5_000_000))
        house.clock(12, 58, at: 62)
        house.at(63, .energy(plug: "Heater", milliwattHours: 5_090_000))
        house.at(64, .energy(plug: "Heater", milliwattHours: 5_101_000))
        house.at(400, .energy(plug: "Heater", milliwattHours: 5_102_000))
        #expect(house.firings == ["64.0 Rule"])
    }

    @Test("An energy limit exceeded before its trigger existed does not fire; one exceeded during a restart does")
    func energyReloaded() {
        let day = Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(100, since: .day)))
        let lower = Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(50, since: .day)))
        let other = Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(60, since: .day)), name: "Other")
        func house() -> VirtualHouse {
            var house = VirtualHouse(day)
            house.appear("Heater", at: 0)
            house.clock(12, at: 0)
            for (second, wattHours) in [(1, 5000), (2, 5080)] as [(Double, UInt64)] {
                house.at(second, .energy(plug: "Heater", milliwattHours: wattHours * 1000))
            }
            return house
        }
        func heard(_ wattHours: UInt64, _ second: Double, _ house: inout VirtualHouse) -> [String] {
            house.at(second, .energy(plug: "Heater", milliwattHours: wattHours * 1000))
            return house.firings
        }
        var reloaded = house()
        reloaded.at(3, .rulesChanged([lower, other]))
        #expect(heard(5090, 4, &reloaded).isEmpty && heard(5200, 5, &reloaded).isEmpty)
        reloaded.at(6, .rulesChanged([day, other]))
        #expect(heard(5201, 7, &reloaded).isEmpty)

        for rules in [[day], [day, other]] {
            var restarted = house()
            restarted.restart(rules)
            restarted.appear("Heater", at: 10)
            restarted.clock(12, at: 10)
            #expect(heard(5101, 11, &restarted) == ["11.0 Rule"])
            #expect(heard(5102, 12, &restarted).count == 1)
        }
    }

    @Test("Energy since the relay was turned on restarts when it is turned on again")
    func energySinceOn() {
        var house = VirtualHouse(Self.rule(.activeEnergy(plug: "Heater", EnergyThreshold(10, since: .on))))
        house.appear("Heater", on: false, at: 0)
        for (second, wattHours) in [(1, 100), (2, 100)] as [(Double, UInt64)] {
            house.at(second, .energy(plug: "Heater", milliwattHours: wattHours * 1000))
        }
        for turn in 0..<2 {
            let start = Double(10 * turn + 10)
            house.turn("Heater", on: true, at: start)
            house.at(start + 1, .energy(plug: "Heater", milliwattHours: UInt64(110 + 20 * turn) * 1000))
            house.at(start + 2, .energy(plug: "Heater", milliwattHours: UInt64(115 + 20 * turn) * 1000))
            house.turn("Heater", on: false, at: start + 3)
        }
        #expect(house.firings == ["12.0 Rule", "21.0 Rule"])
    }

    @Test("Relay triggers fire for any cause, in one direction or both; protection triggers for one kind or any")
    func journal() {
        var house = VirtualHouse(
            Self.rule(.relay(plug: "Fan", on: true), name: "On"),
            Self.rule(.relay(plug: "Fan", on: nil), name: "Either"),
            Self.rule(.protection(plug: "Fan", .overPower), name: "Power"),
            Self.rule(.protection(plug: "Fan", nil), name: "Any"))
        house.appear("Fan", at: 0)
        house.happened("Fan", 1, .relayChanged(on: false, cause: .button), at: 1)
        house.happened("Fan", 2, .relayChanged(on: true, cause: .timer), at: 2)
        house.happened("Fan", 3, .protectionTripped(.overPower), at: 3)
        house.happened("Fan", 4, .protectionTripped(.weldedRelay), at: 4)
        #expect(house.firings == ["1.0 Either", "2.0 On", "2.0 Either", "3.0 Power", "3.0 Any", "4.0 Any"])
    }

    @Test("Triggers for a lost or returned plug fire after their dwell, but not for a short loss or an unknown plug")
    func presence() {
        var house = VirtualHouse(
            Self.rule(.lost(plug: "Fan", dwell: .seconds(10)), name: "Lost"),
            Self.rule(.back(plug: "fan", dwell: .seconds(5)), name: "Back"))
        house.run(to: 100)
        house.appear("Fan", at: 100)
        house.run(to: 200)
        #expect(house.firings.isEmpty)
        house.at(200, .plugLost(plug: "Fan"))
        house.appear("Fan", at: 209)
        house.at(210, .plugLost(plug: "Fan"))
        house.run(to: 230)
        house.appear("Fan", at: 230)
        house.run(to: 300)
        #expect(house.firings == ["220.0 Lost", "235.0 Back"])
    }

    @Test("A rule can fire another rule; two rules that fire each other stop after eight firings")
    func chains() {
        let first = Rule(
            name: "First", triggers: [.button(plug: "Hall", .single), .rule("Second")], actions: [.turnOff(["Hall"])])
        let second = Rule(name: "Second", triggers: [.rule("First")], actions: [.turnOn(["Hall"])])
        var house = VirtualHouse(first, second)
        house.appear("Hall", at: 0)
        house.press("Hall", 1, at: 1)
        #expect(house.firings.prefix(3) == ["1.0 First", "1.0 Second", "1.0 First"])
        #expect(house.firings.count == 8 && house.heldBack.count == 1)
        #expect(Set(house.requests.map(\.id)).count == house.requests.count)
        for number in 2...100 { house.press("Hall", UInt64(number), at: 1 + Double(number) / 100) }
        #expect(house.firings.count <= 2 * FiringLimit.usual.count)
    }

    @Test("A washing machine is reported as finished once, at the end, even if only recorded samples have the start")
    func appliance() {
        var house = VirtualHouse(Self.rule(.appliance(plug: "Washer", .finished(nil))))
        let samples = (0..<1800).map {
            RecordedPower(milliseconds: Int64($0 - 1800) * 1000, deciwatts: $0 < 600 ? 20_000 : 3000)
        }
        house.at(0, .recorded(plug: "Washer", samples))
        house.appear("Washer", watts: 300, at: 0)
        for second in 1..<1800 { house.read("Washer", second % 20 < 10 ? 300 : 60, at: Double(second)) }
        #expect(house.firings.isEmpty)
        for second in 1800..<4200 { house.read("Washer", 1, at: Double(second)) }
        #expect(house.firings.count == 1)
    }

    @Test(
        "A cycle that ended during a gap in readings is reported afterwards, with the time of its end",
        arguments: [false, true])
    func doneInAHole(isLost: Bool) {
        var house = VirtualHouse(Self.rule(.appliance(plug: "Washer", .finished(nil))))
        house.appear("Washer", watts: 0, at: 0)
        for second in 1..<2400 { house.read("Washer", second < 600 ? 2000 : 300, at: Double(second)) }
        if isLost { house.at(2500, .plugLost(plug: "Washer")) }
        #expect(house.firings.isEmpty)
        if isLost { house.appear("Washer", watts: 1, at: 9000) }
        for second in 9001..<12_600 { house.read("Washer", 1, at: Double(second)) }
        #expect(house.firings.count == 1 && house.heldBack.isEmpty)
        let since = house.log.compactMap { _, action -> Instant? in
            if case .fired(let firing) = action { firing.cause.since } else { nil }
        }
        #expect(since.count == 1 && since.allSatisfy { Instant.at(2300) <= $0 && $0 <= Instant.at(2400) })
    }

    @Test("A washing machine that continues after it was reported as finished is reported again only at its new end")
    func goesOn() throws {
        // Twelve recorded cycles teach the detector that a pause within a cycle lasts for only four minutes.
        let wash = [(400, 25), (3, 4), (400, 25), (0, 31)].flatMap { watts, minutes in
            Array(repeating: Int32(watts * 10), count: minutes * 60)
        }
        let past = (0..<12).flatMap { _ in wash }
        var house = VirtualHouse(Self.rule(.appliance(plug: "Washer", .finished(.programme))))
        let samples = past.enumerated().map { index, power in
            RecordedPower(milliseconds: Int64(index - past.count) * 1000, deciwatts: power)
        }
        house.at(0, .recorded(plug: "Washer", samples))
        house.appear("Washer", watts: 0, at: 0)
        house.appear("Lamp", at: 0)
        var second = 0.0
        func draw(_ watts: Double, minutes: Int) {
            for _ in 0..<minutes * 60 {
                second += 1
                house.read("Washer", watts, at: second)
            }
        }
        draw(0, minutes: 10)
        draw(400, minutes: 25)
        draw(0, minutes: 15)
        #expect(house.firings.count == 1)
        draw(400, minutes: 25)
        #expect(house.firings.count == 1)
        draw(0, minutes: 31)
        #expect(house.firings.count == 2)
        #expect(Set(house.requests.map(\.id)).count == 2)
    }

    @Test("A rule for a probable end fires earlier than one for a certain end, and again if the cycle continues")
    func probablyFinished() {
        var house = VirtualHouse(
            Self.rule(.appliance(plug: "Washer", .probablyFinished(.programme)), name: "Probably"),
            Self.rule(.appliance(plug: "Washer", .finished(.programme)), name: "Certainly"))
        house.appear("Washer", watts: 0, at: 0)
        let power = [(0, 10), (400, 25), (0, 12), (400, 25), (0, 30)].flatMap { watts, minutes in
            Array(repeating: Double(watts), count: minutes * 60)
        }
        for (second, watts) in power.enumerated() { house.read("Washer", watts, at: Double(second + 1)) }
        #expect(house.firings.map { $0.split(separator: " ")[1] } == ["Probably", "Probably", "Certainly"])
    }

    @Test("A restart keeps the learned facts about an appliance, and does not learn its recorded samples again")
    func learnedFactsSurvive() throws {
        let day = [(0, 10), (400, 25), (3, 4), (400, 10), (0, 31)].flatMap { watts, minutes in
            Array(repeating: Int32(watts * 10), count: minutes * 60)
        }
        let samples = day.enumerated().map { RecordedPower(milliseconds: Int64($0) * 1000, deciwatts: $1) }
        var house = VirtualHouse(Self.rule(.appliance(plug: "Washer", .finished(.programme))))
        house.at(0, .recorded(plug: "Washer", samples))
        let learned = house.engine.memory.appliances
        #expect(learned.map(\.plug) == ["Washer"])
        #expect(learned.first?.profile.cycles == 1)
        house.restart()
        #expect(house.engine.memory.appliances == learned)
        house.at(0, .recorded(plug: "Washer", samples))
        #expect(house.engine.memory.appliances == learned)
        house.restart([Self.rule(.button(plug: "Washer", .single))])
        #expect(house.engine.memory.appliances.isEmpty)
    }
}
