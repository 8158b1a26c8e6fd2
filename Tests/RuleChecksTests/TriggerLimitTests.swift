import HouseCalendar
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: triggers that never arm")
struct TriggerLimitTests {
    private func found(_ trigger: Trigger, in house: [KnownPlug]? = nil) -> [String] {
        RuleCheck.findings([.checked(when: trigger)], in: house, knowsSun: true).map { "\($0.severity): \($0.message)" }
    }

    private func heater(_ range: ClosedRange<Double>) -> [KnownPlug] { [KnownPlug(name: "Heater", activePower: range)] }

    @Test("A trigger that needs more power than a plug can switch is an error")
    func rating() {
        let never = "a plug switches at most 3680 W"
        #expect(found(.rises("Heater", 4000)) == ["error: the power never rises above 4000 W: \(never)"])
        #expect(found(.rises("Heater", 3600)) == [])
        #expect(found(.falls("Heater", 3600)) == ["error: the trigger arms at 3780 W and above: \(never)"])
        #expect(found(.falls("Heater", 3600, hysteresis: 50)) == [])
    }

    @Test("A trigger that fires or arms only below 0 W is a warning, unless the plug's load feeds power back")
    func belowNothing() {
        #expect(found(.falls("Heater", 0)).map { $0.prefix(8) } == ["warning:"])
        #expect(found(.falls("Heater", 0.5)) == [])
        #expect(found(.falls("Heater", 0), in: heater(-300...0)) == [])
        #expect(found(.rises("Heater", -20)).map { $0.prefix(8) } == ["warning:"])
        #expect(found(.rises("Heater", 0)) == [])
    }

    @Test("A hysteresis that reaches below 0 W is an error, unless the plug's load feeds power back")
    func hysteresis() {
        #expect(
            found(.rises("Heater", 5, hysteresis: 6)) == [
                "error: the trigger arms at -1 W and below, which only an appliance that feeds power back reaches"
            ])
        #expect(found(.rises("Heater", 5, hysteresis: 5)) == [])
        #expect(found(.rises("Heater", 5, hysteresis: 6), in: heater(-300...300)) == [])
    }

    @Test("A trigger that needs more than the plug's highest recorded power is a warning")
    func unheardOf() {
        let warning = "warning: the highest recorded power of Heater is 800 W; the power never rose above 1000 W"
        #expect(found(.rises("Heater", 1000), in: heater(0...800)) == [warning])
        #expect(found(.rises("Heater", 700), in: heater(0...800)) == [])
        #expect(found(.falls("Heater", 790), in: heater(0...800)).count == 1)
        #expect(found(.falls("Heater", 700), in: heater(0...800)) == [])
    }

    @Test("Bands that are empty, inverted or never left are reported")
    func bands() {
        func band(_ low: Double, _ high: Double, _ hysteresis: Double? = nil) -> Trigger {
            .activePowerStays(plug: "Heater", PowerBand(low, high, hysteresis: hysteresis))
        }
        #expect(found(band(40, 5)) == ["error: the range from 40 W to 5 W is empty"])
        #expect(found(band(40, 40)).map { $0.prefix(31) } == ["error: the range has no width: "])
        #expect(found(band(0, 3600, 100)).map { $0.prefix(32) } == ["error: the power never leaves th"])
        #expect(found(band(0, 3600)).count == 1 && found(band(5, 3600, 100)).count == 1)
        #expect(found(band(5, 40)) == [] && found(band(0, 40)) == [] && found(band(5, 3600)) == [])
        let never = "warning: power that rises from 0 W never fires this trigger: it arms below "
        #expect(found(band(5, 40, 5)) == [never + "0 W or above 45 W"])
        #expect(found(band(5, 40, 6)) == [never + "-1 W or above 46 W"])
        #expect(found(band(5, 40, 4.9)) == [] && found(band(5, 40, 6), in: heater(-300...80)) == [])
        #expect(found(band(100, 200), in: heater(0...80)).count == 1)
        #expect(found(band(10, 20), in: heater(0...80)) == [])
    }

    @Test("An energy threshold of zero or above the possible energy is reported")
    func energy() {
        func energy(_ wattHours: Double, _ period: EnergyThreshold.Period) -> Trigger {
            .activeEnergy(plug: "Heater", EnergyThreshold(wattHours, since: period))
        }
        #expect(found(energy(0, .day)) == ["warning: any energy exceeds 0 Wh"])
        #expect(found(energy(4000, .hour)).map { $0.prefix(6) } == ["error:"])
        #expect(found(energy(4000, .day)) == [] && found(energy(100_000, .on)) == [])
        #expect(found(energy(4000, .day), in: heater(0...100)).map { $0.prefix(8) } == ["warning:"])
        #expect(found(energy(2000, .day), in: heater(0...100)) == [])
    }

    @Test("Schedules without a day, and sun times without a location, are reported")
    func schedules() {
        func cron(days: UInt32, months: UInt16, weekdays: Weekdays = .all, eitherDay: Bool = false) -> Trigger {
            .schedule(
                .cron(
                    CronSchedule(
                        text: "...", minutes: 1, hours: 1, days: days, months: months, weekdays: weekdays,
                        eitherDay: eitherDay)))
        }
        #expect(found(cron(days: 1 << 31, months: 1 << 2 | 1 << 4)).count == 1)
        #expect(found(cron(days: 1 << 29, months: 1 << 2)) == [])
        #expect(found(cron(days: 1 << 31, months: 1 << 2, weekdays: .monday)).count == 1)
        #expect(found(cron(days: 1 << 31, months: 1 << 2, weekdays: .monday, eitherDay: true)) == [])
        #expect(found(.schedule(.daily(clock("07:30"), on: []))) == ["error: the list of weekdays is empty"])
        let sunset = Rule.checked(
            when: .schedule(.sun(.sunset, offset: .zero, on: .all)),
            if: [.time(DailyWindow(after: .clock(clock("17:00")), before: .sun(.sunrise, offset: .zero)))])
        let findings = RuleCheck.findings([sunset], in: nil, knowsSun: false)
        #expect(findings.map(\.part) == [.trigger(0), .condition(0)])
        #expect(findings.allSatisfy { $0.hint?.contains("--location") == true })
        #expect(RuleCheck.findings([sunset], in: nil, knowsSun: true) == [])
    }
}
