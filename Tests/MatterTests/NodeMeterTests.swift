import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeMeterTests {
    private func look(_ fixture: inout NodeFixture, energy: UInt64, power: Int64 = 1500) {
        fixture.node.look(
            PlugValues(
                isOn: true, reading: .init(power: power, voltage: 230_000, current: nil, energy: energy)),
            now: fixture.now)
    }

    @Test("Measurements are in mW, mV and mA, and null if the meter does not measure them")
    func power() throws {
        var fixture = try NodeFixture()
        let attribute = ElectricalPowerMeasurement.Attribute.activePower
        #expect(try fixture.read(.electricalPowerMeasurement, attribute, on: 1) == .null)
        look(&fixture, energy: 1, power: -7)
        #expect(try fixture.read(.electricalPowerMeasurement, attribute, on: 1) == .signed(-7))
        #expect(
            try fixture.read(.electricalPowerMeasurement, ElectricalPowerMeasurement.Attribute.voltage, on: 1)
                == .signed(230_000))
        #expect(
            try fixture.read(.electricalPowerMeasurement, ElectricalPowerMeasurement.Attribute.activeCurrent, on: 1)
                == .null)
        _ = fixture.node.takeChanges()
        look(&fixture, energy: 2, power: 8)
        #expect(fixture.node.takeChanges() == [ConcretePath(1, 0x90, 8)])
    }

    @Test("Energy is reported once per minute, and a reset of the counter starts a new period")
    func energy() throws {
        var fixture = try NodeFixture()
        let events = { (fixture: NodeFixture) in
            fixture.node.events(after: nil).filter { $0.path.cluster == 0x91 }
        }
        for second in 0..<200 {
            look(&fixture, energy: 1000 + UInt64(second) * 10)
            fixture.wait(.seconds(1))
        }
        #expect(events(fixture).map(\.path.member) == [0, 0, 1, 0, 1, 0, 1])
        #expect(
            events(fixture).compactMap { $0.path.member == 1 ? $0.value[0]?[0]?.asUnsigned : nil } == [600, 600, 600])
        let period = try fixture.read(
            .electricalEnergyMeasurement, ElectricalEnergyMeasurement.Attribute.periodicEnergyImported, on: 1)
        #expect(period[4].flatMap(\.asUnsigned).map { $0 - (period[3]?.asUnsigned ?? 0) } == 60_000)
        #expect(
            try fixture.read(
                .electricalEnergyMeasurement, ElectricalEnergyMeasurement.Attribute.cumulativeEnergyImported, on: 1)[0]
                == .signed(2990))
        look(&fixture, energy: 0)
        fixture.wait(.seconds(61))
        look(&fixture, energy: 5)
        #expect(events(fixture).last?.value[0]?[0] == .signed(5))
        look(&fixture, energy: .max)
        #expect(
            try fixture.read(
                .electricalEnergyMeasurement, ElectricalEnergyMeasurement.Attribute.cumulativeEnergyImported, on: 1)[0]
                == .signed(.max))
    }

    @Test("Measurements do not evict other events")
    func journalLimits() throws {
        var fixture = try NodeFixture()
        fixture.node.press(.single, number: 1, now: fixture.now)
        for minute in 0..<100 {
            look(&fixture, energy: UInt64(minute))
            fixture.wait(.seconds(60))
        }
        let events = fixture.node.events(after: nil)
        #expect(events.count(where: { $0.path.cluster == 0x91 }) == 2 * EventJournal.measurementLimit)
        #expect(events.count(where: { $0.path.cluster == 0x3B }) == 3)
        for number in UInt64(2)..<100 { fixture.node.press(.single, number: number, now: fixture.now) }
        let critical = fixture.node.events(after: nil).filter { $0.priority == 2 }
        #expect(critical.count == 2)
    }

    @Test(
        "A press is a sequence of events, and is reported once",
        arguments: [
            (.single, [1, 3, 6], 1), (.double, [1, 3, 1, 5, 3, 6], 2), (.long, [1, 2, 4], nil),
        ] as [(MatterPress, [UInt32], UInt64?)])
    func presses(press: MatterPress, events: [UInt32], count: UInt64?) throws {
        var fixture = try NodeFixture()
        let start = fixture.node.events(after: nil).last?.number
        fixture.node.press(press, number: 20, now: fixture.now)
        fixture.node.press(press, number: 20, now: fixture.now)
        fixture.node.press(press, number: 19, now: fixture.now)
        let recorded = fixture.node.events(after: start)
        #expect(recorded.map(\.path) == events.map { ConcretePath(2, 0x3B, $0) })
        #expect(recorded.allSatisfy { $0.value[0] == .unsigned(1) })
        #expect(recorded.last?.value[1]?.asUnsigned == count)
    }

    @Test("A plug without a button records no press")
    func noButton() throws {
        var fixture = try NodeFixture(NodeFeatures(dims: false, meters: false, hasButton: false))
        fixture.node.press(.single, number: 1, now: fixture.now)
        #expect(!fixture.node.events(after: nil).contains { $0.path.cluster == 0x3B })
    }

    @Test("General Diagnostics shows the interface's addresses and the time")
    func diagnostics() throws {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        fixture.node.update(addresses: [[192, 0, 2, 1], Array(repeating: 0xFE, count: 16), [1]])
        let interface = try #require(
            try fixture.read(.generalDiagnostics, GeneralDiagnostics.Attribute.networkInterfaces).elements?.first)
        #expect(interface[5] == .array([.bytes([192, 0, 2, 1])]))
        #expect(interface[6]?.elements?.count == 1)
        #expect(
            fixture.invoke(.generalDiagnostics, GeneralDiagnostics.Command.timeSnapshot, as: session)
                == .response(2, .fields((0, .unsigned(100_000)), (1, .null))))
        let trigger = TLVValue.fields((0, .bytes(Array(repeating: 1, count: 16))), (1, .unsigned(0)))
        #expect(
            fixture.invoke(.generalDiagnostics, GeneralDiagnostics.Command.testEventTrigger, trigger, as: session)
                == .status(InteractionStatus(.constraintError)))
    }
}
