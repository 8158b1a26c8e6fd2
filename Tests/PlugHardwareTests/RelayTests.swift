import PlugHardware
import Testing

@Suite struct RelayTests {
    private let record = LineRecord()

    private func latching() -> LatchingRelay {
        LatchingRelay(
            on: record.line("on"), off: record.line("off"), pulse: .milliseconds(50), after: record.after)
    }

    @Test("A plain relay changes its line only when it is set") func aPlainRelayTouchesItsLineOnlyWhenItIsSet() throws {
        let relay = PlainRelay(record.line("relay"))
        #expect(record.entries.isEmpty)
        try relay.set(on: true)
        try relay.set(on: false)
        #expect(record.entries.map(\.active) == [true, false])
    }

    @Test("A released plain relay keeps its state or opens, as requested")
    func aPlainRelayIsLeftAsItIsOrOff() async throws {
        let relay = PlainRelay(record.line("relay"))
        try relay.set(on: true)
        try await relay.release(keeping: true)
        #expect(record.active == ["relay"])
        try await relay.release(keeping: false)
        #expect(record.active == [])
    }

    @Test("A lamp is lit while its line is active") func aLampShinesWhileItsLineIsActive() throws {
        let lamp = LineLamp(record.line("lamp"))
        #expect(record.entries.isEmpty)
        try lamp.set(lit: true)
        #expect(record.active == ["lamp"])
        try lamp.set(lit: false)
        #expect(record.active == [])
    }

    @Test("A latching relay gets a pulse of the configured length") func aLatchingRelayGetsAPulseOfItsLength() throws {
        let relay = latching()
        #expect(record.entries.isEmpty)
        try relay.set(on: true)
        #expect(record.active == ["on"])
        record.pass(.milliseconds(49))
        #expect(record.active == ["on"])
        record.pass(.milliseconds(1))
        #expect(record.active == [])
        try relay.set(on: false)
        #expect(record.active == ["off"])
        record.pass(.milliseconds(50))
        #expect(record.active == [])
        #expect(record.waiting == 0)
    }

    @Test("Both coils are de-energised before the first pulse") func bothCoilsAreAtRestBeforeTheFirstPulse() throws {
        try latching().set(on: true)
        #expect(record.entries.map { "\($0.line) \($0.active)" } == ["on false", "off false", "on true"])
    }

    /// The relay is set at various times of a pulse, and every single step is checked.
    @Test(
        "The two coils are never energised together, and the last setting wins", arguments: [0, 1, 20, 49, 50, 51, 80])
    func neverAreBothCoilsEnergisedAndTheLastSetWins(milliseconds: Int) throws {
        let relay = latching()
        for on in [true, false, false, true, true, false, true] {
            try relay.set(on: on)
            record.pass(.milliseconds(milliseconds))
        }
        record.pass(.milliseconds(100))
        var active: Set<String> = []
        for entry in record.entries {
            if entry.active { active.insert(entry.line) } else { active.remove(entry.line) }
            #expect(active.count < 2)
        }
        #expect(active == [])
        let last = try #require(record.entries.last { $0.active })
        #expect(last.line == "on")
        let end = try #require(record.entries.last { $0.line == "on" })
        #expect(!end.active && end.time - last.time == .milliseconds(50))
    }

    @Test("The end of an interrupted pulse does not end the next one")
    func theEndOfAPulseThatWasCutShortDoesNotEndTheNext() throws {
        let relay = latching()
        try relay.set(on: true)
        record.pass(.milliseconds(30))
        try relay.set(on: false)
        record.pass(.milliseconds(49))
        #expect(record.active == ["off"])
        record.pass(.milliseconds(1))
        #expect(record.active == [])
    }

    @Test("A pulse whose end fails is ended by a later attempt") func aPulseWhoseEndFailsIsEndedByAnotherTry() throws {
        let relay = latching()
        try relay.set(on: true)
        record.fail("on", times: 3)
        record.pass(.milliseconds(199))
        #expect(record.active == ["on"])
        record.pass(.milliseconds(1))
        #expect(record.active == [])
    }

    @Test("The attempts to end a pulse are limited, and the next setting tries again")
    func theTriesToEndAPulseHaveALimitAndTheNextSetBeginsWithOne() throws {
        let relay = latching()
        try relay.set(on: true)
        record.fail("on", times: 11)
        record.pass(.seconds(10))
        #expect(record.waiting == 0)
        #expect(throws: HardwareFault.self) { try relay.set(on: false) }
        #expect(record.active == ["on"])
        try relay.set(on: false)
        #expect(record.active == ["off"])
    }

    @Test("A coil that cannot be energised is reported and de-energised")
    func aCoilThatCannotBeEnergisedIsToldAndBroughtToRest() throws {
        let relay = latching()
        try relay.set(on: true)
        record.pass(.milliseconds(50))
        record.fail("off", times: 1)
        #expect(throws: HardwareFault(part: "off", reason: "made to fail")) { try relay.set(on: false) }
        let before = record.entries.count
        record.pass(.milliseconds(50))
        #expect(record.entries[before...].map { "\($0.line) \($0.active)" } == ["on false", "off false"])
    }

    @Test("A release waits for the end of the pulse, after which neither coil is energised", arguments: [true, false])
    func aStopWaitsForThePulseAndLeavesTheCoilsAtRest(keeping: Bool) async throws {
        let relay = latching()
        try relay.set(on: true)
        record.pass(.milliseconds(10))
        let record = record
        let stopping = Task { try await relay.release(keeping: keeping) }
        // Only the test advances the time. The loop ends when the release has energised the `off` coil. If the release
        // keeps the state, the `on` coil is still energised by the first pulse.
        while record.active != [keeping ? "on" : "off"] { await Task.yield() }
        record.pass(.milliseconds(50))
        try await stopping.value
        #expect(record.active == [])
        #expect(record.entries.last { $0.active }?.line == (keeping ? "on" : "off"))
    }
}
