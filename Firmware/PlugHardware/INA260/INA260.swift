public import Metering

/// The INA260, a bench meter for direct current up to 36 V and 15 A with an integrated shunt, on I²C.
///
/// A measurement takes 3 transfers: voltage, current, and the configuration register to check the settings. The set-up
/// takes 5. The resolution is 1.25 mV for the voltage and 1.25 mA for the current. The power is the product of voltage
/// and current.
public final class INA260: CalibratedMeter {
    /// The range of the registers.
    public static let limits = MeterLimits(
        largestVoltage: 40.96, largestCurrent: 40.96, largestPower: 40.96 * 40.96, powerSlack: 0.01)

    private let driver: ChipDriver<INA260Chip>

    /// - Parameters:
    ///   - isReversed: true if the load's current flows from IN− to IN+.
    public init(
        bus: any I2CBus, address: UInt8 = 0x40, isReversed: Bool = false, calibration: Calibration = Calibration(),
        limits: MeterLimits = INA260.limits
    ) {
        let chip = INA260Chip(isReversed: isReversed, calibration: calibration)
        driver = ChipDriver(chip, bus: bus, address: address, limits: limits.scaled(by: calibration))
    }

    public var supply: CalibrationRun.Supply { .lowVoltage }
    public var measuresPower: Bool { false }
    public var counters: MeterCounters { driver.counters }
    public func quantities() throws(HardwareFault) -> MeterQuantities { try driver.quantities() }
    public func measure() throws(HardwareFault) -> Measurement { try driver.measure() }
}
