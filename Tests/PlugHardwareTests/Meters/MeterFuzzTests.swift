import Metering
import PlugHardware
import ProtocolCore
import Synchronization
import TestSupport
import Testing

@Suite struct MeterFuzzTests {
    /// A bus that answers with random bytes, sometimes of a wrong length, and sometimes with a fault. A read of a
    /// written register usually returns the written value.
    private final class RandomBus: I2CBus {
        private let random: Mutex<SeededRandom>
        private let written = Mutex<[[UInt8]: [UInt8]]>([:])

        init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

        func transfer(to address: UInt8, write bytes: [UInt8], read count: Int) throws(BusFault) -> [UInt8] {
            let pointer = address == 0x38 ? 2 : 1
            if bytes.count > pointer {
                written.withLock { $0[Array(bytes.prefix(pointer))] = Array(bytes.dropFirst(pointer)) }
            }
            let kept = written.withLock { $0[bytes] }
            return try random.withLock { random throws(BusFault) in
                if random.chance(0.01) { throw BusFault(.noAcknowledge, address: address) }
                // A read of a written register usually returns the written value. Otherwise no driver would begin to
                // measure.
                if let kept, random.chance(0.98) { return kept }
                if bytes == [0xFE], random.chance(0.9) { return [0x54, 0x49] }
                if bytes == [0xFF], random.chance(0.9) { return [0x22, address == 0x41 ? 0x60 : 0x70] }
                let length = random.chance(0.01) ? Int.random(in: 0...9, using: &random) : count
                // Half of the values are small, because small values are valid more often.
                let top: UInt8 = random.chance(0.5) ? 0x3F : 0xFF
                // The first of four bytes is usually zero, the sign of a small positive number.
                let sign: UInt8 = length == 4 && random.chance(0.9) ? 0 : top
                return (0..<length).map { .random(in: 0...($0 == 0 ? sign : $0 == 1 ? top : 255), using: &random) }
            }
        }
    }

    @Test(
        "Random bytes result in a plausible measurement or an error",
        arguments: ["ade7953", "ina219", "ina226", "ina260"])
    func randomBytesAreAPlausibleMeasurementOrThrown(chip: String) {
        var random = Fuzzing.random(0xF0220)
        var measured = 0
        var thrown = 0
        for _ in FuzzRounds(60, sharedBy: 4) {
            let bus = RandomBus(seed: random.next())
            let clock = TestClock()
            let (meter, limits): (any CalibratedMeter, MeterLimits) =
                switch chip {
                case "ade7953": (ADE7953(bus: bus) { clock.now }, ADE7953.limits)
                case "ina219": (INA219(bus: bus, address: 0x40, shuntOhms: 0.1), INA219.limits(shuntOhms: 0.1))
                case "ina226": (INA226(bus: bus, address: 0x41, shuntOhms: 0.1), INA226.limits(shuntOhms: 0.1))
                default: (INA260(bus: bus, address: 0x42), INA260.limits)
                }
            for _ in 0..<100 {
                clock.advance(Double.random(in: 0...50, using: &random))
                guard let values = try? meter.quantities() else {
                    thrown += 1
                    continue
                }
                measured += 1
                let apparent = abs(values.voltageRMS! * values.currentRMS!)
                #expect(abs(values.activePower) <= limits.largestPower)
                #expect(abs(values.voltageRMS!) <= limits.largestVoltage)
                #expect(abs(values.currentRMS!) <= limits.largestCurrent)
                let mostPower: Double = apparent * 1.1 + limits.powerSlack
                #expect(abs(values.activePower) <= mostPower)
                #expect(values.frequency.map { (40...70).contains($0) } ?? true)
                let mostEnergy: Double = limits.largestPower * 51 / 3600
                #expect(abs(values.addedEnergy ?? 0) <= mostEnergy)
                #expect(values.measurement != nil)
            }
        }
        #expect(measured > 20 && thrown > 20, "\(chip): \(measured) measured, \(thrown) thrown")
    }

    @Test(
        "Bytes damaged on the bus result in a plausible measurement or an error",
        arguments: 1...40 as ClosedRange<UInt64>)
    func bytesSpoiltOnTheWayAreAPlausibleMeasurementOrThrown(seed: UInt64) throws {
        let test = TestADE(fresh: true)
        test.load(watts: 460)
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            test.wait(1)
            test.bus.fail(
                Int.random(in: 0...20, using: &random), with: TransferFault.allCases.randomElement(using: &random)!)
            guard let measured = try? test.meter.quantities() else { continue }
            #expect(abs(measured.activePower) <= 32_000)
            #expect(abs(measured.addedEnergy ?? 0) <= 365)
        }
        for _ in 0..<21 { _ = try? test.meter.measure(); test.wait(1) }
        #expect(try test.meter.measure().deciwatts == 4600)
    }
}
