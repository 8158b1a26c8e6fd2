public import Metering
public import ProtocolCore

/// The ADE7953, a mains meter on I²C.
///
/// A measurement takes 6 transfers, every tenth one 7: VRMS, IRMS, active and reactive power, CONFIG to check the
/// settings, the energy, and sometimes the period. Apparent power is volts times amperes, like the chip's own register.
/// The set-up takes 17 transfers. A transfer takes at most 8 bytes, in which the chip's address occurs twice: 0.2 ms at
/// 400 kHz.
public final class ADE7953: CalibratedMeter {
    /// The wiring and scaling of the chip.
    public struct Board: Hashable, Sendable {
        /// A current channel of the chip.
        public enum Channel: Hashable, Sendable { case a, b }

        /// The current input that carries the relay's current.
        public var channel = Channel.a
        /// True if the current transformer or shunt is reversed, so that a load reads negative.
        public var isReversed = false
        /// The steps of VRMS per volt.
        public var stepsPerVolt = 26_000.0
        /// The steps of IRMS per ampere.
        public var stepsPerAmpere = 100_000.0
        /// The steps of AWATT per watt.
        public var stepsPerWatt = 154.0

        /// Creates the values of the common relay board.
        public init(channel: Channel = .a, isReversed: Bool = false) {
            self.channel = channel
            self.isReversed = isReversed
        }
    }

    /// The limits for the common relay board, slightly above the chip's range there: 347 V, 90 A, 31.6 kW. Values below
    /// 0.5 W and 30 mA are noise; above that, currents are accurate to about 0.2 %.
    public static let limits = MeterLimits(
        largestVoltage: 350, largestCurrent: 92, largestPower: 32_000, noLoadPower: 0.5, noLoadCurrent: 0.03)

    private let driver: ChipDriver<ADE7953Chip>

    /// Creates a driver. The chip is set up at the first measurement.
    ///
    /// - Parameters:
    ///   - clock: the plug's clock, which shows whether the energy register can have overflowed since it was read.
    public init(
        bus: any I2CBus, address: UInt8 = 0x38, board: Board = Board(), calibration: Calibration = Calibration(),
        limits: MeterLimits = ADE7953.limits, clock: @escaping @Sendable () -> Instant
    ) {
        let chip = ADE7953Chip(board: board, calibration: calibration, clock: clock)
        driver = ChipDriver(chip, bus: bus, address: address, limits: limits.scaled(by: calibration))
    }

    public var supply: CalibrationRun.Supply { .mains }
    public var measuresPower: Bool { true }
    public var counters: MeterCounters { driver.counters }
    public func quantities() throws(HardwareFault) -> MeterQuantities { try driver.quantities() }
    public func measure() throws(HardwareFault) -> Measurement { try driver.measure() }
}
