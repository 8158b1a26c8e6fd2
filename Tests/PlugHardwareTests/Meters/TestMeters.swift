import PlugHardware
import ProtocolCore
import Synchronization
import TestSupport

/// A clock that only the test advances.
final class TestClock: Sendable {
    private let time = Mutex(Instant.zero)

    var now: Instant { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 = $0 + .nanoseconds(Int64(seconds * 1e9)) } }
}

/// An ADE7953 driver with a modelled chip. Unless `fresh` is true, the chip is set up and its first energy is
/// discarded.
struct TestADE {
    /// The energy of one step in microwatt-hours. Full scale is 4,862,401 steps of power at 154 steps per watt, and
    /// 206,900 steps of energy per second.
    static let microwattHoursPerStep: Double = 4_862_401 / 154 / 206_900 / 3600 * 1e6

    let bus = ModelledBus(ADE7953Model(), at: 0x38)
    let clock = TestClock()
    let meter: ADE7953

    init(
        board: ADE7953.Board = .init(), calibration: Calibration = Calibration(), limits: MeterLimits = ADE7953.limits,
        fresh: Bool = false
    ) {
        let clock = clock
        meter = ADE7953(bus: bus, board: board, calibration: calibration, limits: limits) { clock.now }
        bus.withChip {
            $0.volts = 230
            $0.channel = board.channel == .a ? .a : .b
        }
        guard !fresh else { return }
        _ = try? meter.measure()
        clock.advance(1)
        _ = try? meter.measure()
    }

    /// Sets the measured values. The apparent power follows from them.
    func load(watts: Double, vars: Double = 0, volts: Double = 230) {
        bus.withChip {
            $0.volts = volts
            $0.watts = watts
            $0.vars = vars
            $0.amperes = (watts * watts + vars * vars).squareRoot() / volts
        }
    }

    /// Advances the clock while the load draws power.
    func wait(_ seconds: Double) {
        clock.advance(seconds)
        bus.withChip { $0.advance(seconds: seconds) }
    }
}

/// An INA driver with a modelled chip.
struct TestINA {
    let bus: ModelledBus<INAModel>
    let meter: any CalibratedMeter

    init(
        _ kind: INAModel.Kind, shunt: Double = 0.1, reversed: Bool = false, calibration: Calibration = Calibration(),
        fresh: Bool = false
    ) {
        bus = ModelledBus(INAModel(kind, shunt: shunt), at: 0x40)
        meter = Self.meter(kind, bus, shunt: shunt, reversed: reversed, calibration: calibration)
        if !fresh { _ = try? meter.measure() }
    }

    /// Returns a driver for the kind, regardless of the chip on the bus.
    static func meter(
        _ kind: INAModel.Kind, _ bus: any I2CBus, address: UInt8 = 0x40, shunt: Double = 0.1, reversed: Bool = false,
        calibration: Calibration = Calibration()
    ) -> any CalibratedMeter {
        switch kind {
        case .ina219:
            INA219(bus: bus, address: address, shuntOhms: shunt, isReversed: reversed, calibration: calibration)
        case .ina226:
            INA226(bus: bus, address: address, shuntOhms: shunt, isReversed: reversed, calibration: calibration)
        case .ina260: INA260(bus: bus, address: address, isReversed: reversed, calibration: calibration)
        }
    }
}

/// Returns the description of the error that a call throws, or nil if the call succeeds.
func fault(_ body: () throws(HardwareFault) -> some Any) -> String? {
    do throws(HardwareFault) {
        _ = try body()
        return nil
    } catch {
        return error.description
    }
}
