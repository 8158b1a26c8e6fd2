import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct MeteringPolicyTests {
    @Test("The meter is read once per second, and every reading is a sample")
    func theMeterIsReadEverySecondAndEveryReadingIsASample() {
        var bench = Bench(StoredState(relayOn: true, milliwattHours: 100), powerLost: false)
        bench.load = 36_000
        bench.run(for: .seconds(10))
        let reads = bench.log.compactMap { $0.action == .part(.readMeter) ? $0.at : nil }
        #expect(reads == (0...10).map { $0 * 1000 })
        let samples = bench.log.compactMap { if case .sample(let sample) = $0.action { sample } else { nil } }
        #expect(samples == (0...10).map { Sample(milliseconds: $0 * 1000, deciwatts: $0 == 0 ? 0 : 36_000) })
        // 3600 W are 1 Wh per second. The first second counts half, because its beginning was measured without the
        // load.
        #expect(bench.machine.state.reading?.milliwattHours == 100 + 9_500)
        #expect(bench.machine.storedState.milliwattHours == 9_600)
    }

    @Test("The meter's own energy counter has precedence over the mean power")
    func whatTheMeterCountedItselfComesBeforeTheMeanOfThePowers() {
        var bench = Bench(StoredState(relayOn: true, milliwattHours: 100), powerLost: false)
        bench.load = 36_000
        bench.feed(.measured(Measurement(deciwatts: 36_000)))
        bench.now = bench.now + .seconds(1)
        bench.feed(.measured(Measurement(deciwatts: 36_000, addedMicrowattHours: 250_000)))
        #expect(bench.machine.state.reading?.milliwattHours == 350)
        bench.now = bench.now + .seconds(1)
        bench.feed(.measured(Measurement(deciwatts: 36_000)))
        #expect(bench.machine.state.reading?.milliwattHours == 1350)
    }

    @Test("A late reading does not shift the following ones") func aLateReadingDoesNotShiftThoseThatFollow() {
        var bench = Bench()
        bench.run(milliseconds: 2500)
        bench.now = bench.now + .milliseconds(3200)
        bench.feed(.deadlineReached)
        bench.forget()
        bench.run(milliseconds: 3000)
        let reads = bench.log.compactMap { $0.action == .part(.readMeter) ? $0.at : nil }
        #expect(reads.count == 3)
        #expect(zip(reads, reads.dropFirst()).allSatisfy { $1 - $0 == 1000 })
    }

    @Test("The reading of a silent meter becomes unavailable after five seconds")
    func aSilentMeterMakesTheReadingUnavailableNotEternal() {
        var bench = Bench()
        bench.load = 500
        bench.run(for: .seconds(3))
        #expect(bench.machine.state.reading != nil)
        bench.load = nil
        bench.run(milliseconds: 4999)
        #expect(bench.machine.state.reading != nil)
        bench.forget()
        bench.run(milliseconds: 1)
        #expect(bench.machine.state.reading == nil)
        #expect(bench.states == [Timed(8000, PlugState(relayOn: false))])
        bench.load = 600
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.reading != nil)
    }

    @Test("A meter that does not answer is not read again, and its reading expires")
    func aMeterThatDoesNotAnswerIsNotAskedAgainAndItsReadingGoes() {
        var bench = Bench { $0.meterInterval = .milliseconds(100) }
        bench.isMetered = false
        bench.run(for: .seconds(60))
        #expect(
            bench.log.count { $0.action == .part(.readMeter) } == 2,
            "the first request was answered, and the second one was not")
        #expect(bench.machine.state.reading == nil)
        #expect(
            bench.machine.nextDeadline.map { $0 > bench.now + .seconds(60) } ?? true,
            "a wake-up is scheduled for a meter that does not answer")
        // The meter answers between two multiples of its interval.
        bench.run(milliseconds: 30)
        bench.forget()
        bench.isMetered = true
        bench.feed(.measured(Measurement(deciwatts: 7)))
        bench.run(milliseconds: 170)
        #expect(bench.log.filter { $0.action == .part(.readMeter) }.map(\.at) == [60_100, 60_200])
    }

    @Test(
        "The measurement interval is clamped to 100 ms to 60 s",
        arguments: [
            (.milliseconds(1), 100), (.seconds(60), 60_000), (.seconds(3600), 60_000),
        ] as [(Duration, Int64)])
    func theIntervalIsFrom100MillisecondsTo60Seconds(wanted: Duration, actual: Int64) {
        var bench = Bench { $0.meterInterval = wanted }
        bench.run(for: .milliseconds(actual * 2))
        #expect(bench.log.filter { $0.action == .part(.readMeter) }.map(\.at) == [0, actual, 2 * actual])
    }

    @Test("The reading of a slow meter is valid until its next answer is overdue")
    func aSlowMeterIsShownAndCountedUntilItShouldHaveAnswered() {
        var bench = Bench(StoredState(relayOn: true), powerLost: false) { $0.meterInterval = .seconds(60) }
        bench.load = 600
        bench.run(for: .seconds(3600))
        #expect(bench.machine.state.reading != nil)
        // 60 W, except for the first minute, which counts half, because its beginning was measured without the load.
        #expect(bench.machine.storedState.milliwattHours == 59_500)
        bench.load = nil
        bench.run(for: .seconds(149))
        #expect(bench.machine.state.reading != nil)
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.reading == nil)
    }

    @Test("A thermometer without a meter is read too") func aThermometerAloneIsAskedToo() {
        var bench = Bench {
            $0.capabilities = [.relay, .button]
            $0.hasThermometer = true
        }
        bench.isMetered = false
        for _ in 0..<3 {
            bench.run(for: .seconds(5))
            bench.feed(.temperature(300))
        }
        #expect(bench.log.filter { $0.action == .part(.readMeter) }.map(\.at) == [0, 1000, 6000, 11_000])
    }

    @Test("The meter's own energy counter and its values of alternating current are passed on")
    func theMetersOwnCounterIsBelievedAndWhatAlternatesIsPassedOn() {
        var bench = Bench(StoredState(relayOn: true), powerLost: false)
        bench.isMetered = false
        let alternating = AlternatingPower(
            apparentDecivoltAmperes: 110, reactiveDecivars: -20, powerFactorThousandths: 900, millihertz: 49_980)
        for added in [0, 5_000_000, 2_000_000] as [Int64] {
            bench.now = bench.now + .seconds(10)
            bench.feed(
                .measured(Measurement(deciwatts: 100, alternating: alternating, addedMicrowattHours: added)))
        }
        #expect(bench.machine.state.reading?.alternating == alternating)
        #expect(bench.machine.state.reading?.milliwattHours == 7000)
    }

    @Test("At ten measurements per second every sample is kept, in less than four bytes of memory each")
    func atTenMeasurementsASecondEverySampleIsKeptAndTheBytesAreBounded() {
        var house = House(interval: .milliseconds(100))
        house.join(desk, name: "Desk")
        house.press()
        house.run(for: .seconds(2))
        let (mirrored, kept, samples) = (
            house.mirror.bytes.count, house.storedBytes, house.machine.memory.samples.count
        )
        let states = house.states(desk)
        house.run(for: .seconds(60))
        #expect(house.machine.memory.samples.count - samples == 600)
        // The mirror gets 31 bytes per sample, 310 per second. A chunk has less than four bytes per sample, so the
        // limit of 1.5 MB holds ten hours of samples.
        #expect(house.mirror.bytes.count - mirrored == 600 * 31)
        #expect(house.storedBytes - kept < 600 * 4)
        #expect((60...67).contains(house.states(desk) - states), "a follower must receive one reading per second")
    }

    @Test("A plug without a meter requests no measurements") func aPlugWithoutAMeterAsksForNothing() {
        var bench = Bench { $0.capabilities = [.relay] }
        bench.run(for: .seconds(60))
        #expect(!bench.log.contains { $0.action == .part(.readMeter) })
        #expect(bench.machine.state == PlugState(relayOn: false))
    }

    @Test("Power above the limit trips the plug once") func tooMuchForTooLongTripsOnce() {
        var bench = Bench { $0.overPower = OverPowerLimit(deciwatts: 36_800, duration: .seconds(5)) }
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(milliseconds: 500)
        bench.forget()
        bench.load = 36_801
        bench.run(for: .seconds(20))
        // The power is first measured above the limit at 1 s, so the plug trips at 6 s.
        #expect(bench.relay == [Timed(6000, false)])
        #expect(bench.recorded == [.protectionTripped(.overPower), .relayChanged(on: false, cause: .protection)])
    }

    @Test("A short overload, or a power equal to the limit, does not trip the plug")
    func aShortOverloadAndTheLimitItselfAreAllowed() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        for load in [36_801, 36_800, 50_000, 100] as [Int32] {
            bench.load = load
            bench.run(for: .seconds(5))
        }
        #expect(bench.machine.state.relayOn)
    }

    @Test("Failed measurements interrupt an overload") func aMeterThatFailsInBetweenDoesNotCountAgainstTheLoad() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        for _ in 0..<5 {
            bench.load = 40_000
            bench.run(for: .seconds(4))
            bench.load = nil
            bench.run(for: .seconds(1))
        }
        #expect(bench.machine.state.relayOn)
    }

    private func tripped() -> Bench {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.load = 40_000
        bench.run(for: .seconds(10))
        bench.forget()
        return bench
    }

    @Test("A tripped plug refuses to turn on until it is reset") func trippedItRefusesToTurnOnUntilItIsReset() {
        var bench = tripped()
        bench.command(.setRelay(on: true, autoOff: nil))
        guard case .refused(let refusal) = bench.answers.last else {
            Issue.record("the command was not refused")
            return
        }
        #expect(refusal.code == .protectionTripped)
        #expect(refusal.detail.contains("press the plug's button"))
        #expect(bench.relay.isEmpty)
        bench.command(.setRelay(on: false, autoOff: nil))
        #expect(bench.answers.last == .done(bench.machine.state, recorded: false))
        #expect(bench.machine.state.tripped == .overPower, "a command to turn off reset the protection")
        let reset = bench.command(.resetProtection)
        #expect(bench.answers.last == .done(bench.machine.state, recorded: true))
        let cause = RelayCause.controller(name: "kitchen", request: reset.request, authority: .desk)
        #expect(bench.recorded == [.protectionReset(.overPower, cause: cause)])
        #expect(bench.relay.isEmpty, "a reset of the protection turned the plug on")
        bench.command(.setRelay(on: true, autoOff: nil))
        #expect(bench.relay.map(\.value) == [true])
    }

    @Test("The light of a tripped plug shows the trip, and a press resets the protection and turns the plug on")
    func trippedItsLightSaysSoAndThePressOfTheButtonResetsIt() {
        var bench = tripped()
        #expect(bench.machine.light == .tripped)
        bench.load = 100
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(10))
        #expect(bench.relay.map(\.value) == [true])
        #expect(bench.machine.light == .connected(lit: true))
        #expect(bench.machine.state.relayOn)
    }
}

extension House {
    fileprivate var storedBytes: Int { machine.memory.samples.byteCount }

    fileprivate func states(_ id: ConnectionID) -> Int {
        heard[id, default: []].count { if case .state = $0 { true } else { false } }
    }
}
