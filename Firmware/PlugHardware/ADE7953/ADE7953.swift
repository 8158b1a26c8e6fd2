public import Metering
public import ProtocolCore

/// The ADE7953, a meter for the mains, on I²C.
///
/// A measurement takes 6 transfers, every tenth 7: VRMS, IRMS, active and reactive power, CONFIG (is it still set up?), the
/// energy, and now and then the period. Apparent power is volts times amperes, which is what the chip's own register has.
/// Setting it up takes 17. A transfer is at most 8 bytes with both addresses, 0.2 ms at 400 kHz.
public final class ADE7953: CalibratedMeter {
    /// How the chip is wired and scaled.
    public struct Board: Hashable, Sendable {
        public enum Channel: Hashable, Sendable { case a, b }

        /// Which of the two current inputs the relay's current goes through.
        public var channel = Channel.a
        /// True where the current's transformer or shunt is the other way round, so that a load reads negative.
        public var isReversed = false
        /// Steps of VRMS in a volt.
        public var stepsPerVolt = 26_000.0
        /// Steps of IRMS in an ampere.
        public var stepsPerAmpere = 100_000.0
        /// Steps of AWATT in a watt.
        public var stepsPerWatt = 154.0

        /// The common relay board.
        public init(channel: Channel = .a, isReversed: Bool = false) {
            self.channel = channel
            self.isReversed = isReversed
        }
    }

    /// What the chip can measure on the common relay board: 347 V, 90 A, 31.6 kW. What it sees below 0.5 W and 30 mA is
    /// noise: from there on its currents are right to about 0.2 %.
    public static let limits = MeterLimits(
        largestVoltage: 350, largestCurrent: 92, largestPower: 32_000, noLoadPower: 0.5, noLoadCurrent: 0.03)

    private let driver: ChipDriver<ADE7953Chip>

    /// - Parameters:
    ///   - clock: the plug's clock; it tells whether the energy register can have overflowed.
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
