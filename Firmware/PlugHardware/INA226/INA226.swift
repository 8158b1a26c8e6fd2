public import Metering

/// The INA226, a bench meter for direct current up to 36 V, on I²C.
///
/// A measurement takes 3 transfers: voltage, current, and the calibration register to check the settings. The set-up
/// takes 8. The resolution is 1.25 mV for the voltage, and 2.5 µV divided by the shunt's ohms for the current. The
/// power is the product of voltage and current.
public final class INA226: CalibratedMeter {
    /// Returns the range of the registers with this shunt.
    public static func limits(shuntOhms: Double) -> MeterLimits {
        MeterLimits(
            largestVoltage: 40.96, largestCurrent: 0.08192 / shuntOhms, largestPower: 40.96 * 0.08192 / shuntOhms,
            powerSlack: 0.01)
    }

    private let driver: ChipDriver<INA226Chip>

    /// - Parameters:
    ///   - shuntOhms: the resistance on the board, above zero: 0.002 to 0.1 on most.
    ///   - isReversed: true if the load's current flows from V− to V+.
    ///   - limits: nil for the chip's limits with this shunt.
    public init(
        bus: any I2CBus, address: UInt8 = 0x40, shuntOhms: Double, isReversed: Bool = false,
        calibration: Calibration = Calibration(), limits: MeterLimits? = nil
    ) {
        precondition(shuntOhms > 0 && shuntOhms.isFinite, "the resistance must be above zero")
        let chip = INA226Chip(shunt: shuntOhms, isReversed: isReversed, calibration: calibration)
        driver = ChipDriver(
            chip, bus: bus, address: address,
            limits: (limits ?? Self.limits(shuntOhms: shuntOhms)).scaled(by: calibration))
    }

    public var supply: CalibrationRun.Supply { .lowVoltage }
    public var measuresPower: Bool { false }
    public var counters: MeterCounters { driver.counters }
    public func quantities() throws(HardwareFault) -> MeterQuantities { try driver.quantities() }
    public func measure() throws(HardwareFault) -> Measurement { try driver.measure() }
}
