public import Metering
import Synchronization

/// A meter with a kernel driver, read from hwmon or iio files. It supports chips without a driver in this module.
///
/// A measurement reads each file once: power, voltage, current and energy, if present, and for iio also scale and
/// offset, which can change with the range. The meter assumes direct current, so it has no reactive power.
public final class KernelMeter: CalibratedMeter {
    /// The hwmon files in the order of the search. Their units are µW, mV, mA and µJ.
    static let hwmonPower = ["power1_input", "power1_average"]
    static let hwmonVoltage = ["in1_input", "in0_input"]
    static let hwmonCurrent = ["curr1_input"]
    static let hwmonEnergy = ["energy1_input"]
    /// The iio channels, in mW, mV and mA. For INA219 and INA226 the bus is channel 1, the power 2, the current 3.
    public static let iioPower = ["in_power2", "in_power0", "in_power1", "in_power"]
    /// The iio channels of the voltage.
    public static let iioVoltage = ["in_voltage1", "in_voltage0", "in_voltage"]
    /// The iio channels of the current.
    public static let iioCurrent = ["in_current3", "in_current0", "in_current1", "in_current"]

    /// The plausible range of a plug's meter.
    public static let limits = MeterLimits(
        largestVoltage: 500, largestCurrent: 200, largestPower: 50_000, powerSlack: 0.5)

    private struct State {
        /// The kernel's last energy value in microjoules.
        var energy: Double?
    }

    private let state = Mutex(State())
    private let counted = Mutex(MeterCounters())
    private let power: KernelChannel?
    private let voltage: KernelChannel?
    private let current: KernelChannel?
    private let energy: KernelChannel?
    private let calibration: Calibration
    private let isReversed: Bool
    private let limits: MeterLimits
    /// The kind of power supply, low direct voltage by default.
    public let supply: CalibrationRun.Supply
    /// False if the power is computed from voltage and current.
    public var measuresPower: Bool { power != nil }

    /// Opens a device in /sys/class/hwmon.
    ///
    /// - Parameter open: returns the file with this name in the device's folder, or nil if it does not exist.
    /// - Throws: if the device has neither power nor both voltage and current.
    public convenience init(
        hwmon open: (String) -> (any AttributeFile)?, isReversed: Bool = false,
        supply: CalibrationRun.Supply = .lowVoltage,
        calibration: Calibration = Calibration(), limits: MeterLimits = KernelMeter.limits
    ) throws(HardwareFault) {
        try self.init(
            power: .hwmon(Self.hwmonPower, unit: 1e-6, open), voltage: .hwmon(Self.hwmonVoltage, unit: 1e-3, open),
            current: .hwmon(Self.hwmonCurrent, unit: 1e-3, open), energy: .hwmon(Self.hwmonEnergy, unit: 1, open),
            isReversed, supply, calibration, limits)
    }

    /// Opens a device in /sys/bus/iio/devices.
    ///
    /// - Parameters:
    ///   - open: returns the file with this name in the device's folder, or nil if it does not exist.
    ///   - power, voltage, current: the channels to try, in this order.
    /// - Throws: if the device has neither power nor both voltage and current.
    public convenience init(
        iio open: (String) -> (any AttributeFile)?, power: [String] = KernelMeter.iioPower,
        voltage: [String] = KernelMeter.iioVoltage, current: [String] = KernelMeter.iioCurrent,
        isReversed: Bool = false,
        supply: CalibrationRun.Supply = .lowVoltage, calibration: Calibration = Calibration(),
        limits: MeterLimits = KernelMeter.limits
    ) throws(HardwareFault) {
        try self.init(
            power: .iio(power, unit: 1e-3, open), voltage: .iio(voltage, unit: 1e-3, open),
            current: .iio(current, unit: 1e-3, open), energy: nil, isReversed, supply, calibration, limits)
    }

    private init(
        power: KernelChannel?, voltage: KernelChannel?, current: KernelChannel?, energy: KernelChannel?,
        _ isReversed: Bool, _ supply: CalibrationRun.Supply, _ calibration: Calibration, _ limits: MeterLimits
    ) throws(HardwareFault) {
        guard power != nil || (voltage != nil && current != nil) else {
            throw HardwareFault(
                part: "meter of the kernel",
                reason: "the device has neither power nor both voltage and current: is the directory correct?")
        }
        self.power = power
        self.voltage = voltage
        self.current = current
        self.energy = energy
        self.isReversed = isReversed
        self.supply = supply
        self.calibration = calibration
        self.limits = limits.scaled(by: calibration)
    }

    public var counters: MeterCounters { counted.withLock { $0 } }

    public func quantities() throws(HardwareFault) -> MeterQuantities {
        do {
            var quantities = try judged(read())
            quantities.addedEnergy = try addedEnergy()
            return quantities
        } catch {
            switch error {
            case .file(let fault):
                counted.withLock { $0.busFaults += 1 }
                throw fault
            case .impossible(let what):
                counted.withLock { $0.impossible += 1 }
                throw HardwareFault(part: "meter of the kernel", reason: "not a measurement: \(what)")
            }
        }
    }

    public func measure() throws(HardwareFault) -> Measurement {
        let quantities = try quantities()
        guard var measurement = quantities.measurement else {
            counted.withLock { $0.impossible += 1 }
            throw HardwareFault(part: "meter of the kernel", reason: "out of range: \(quantities)")
        }
        measurement.addedMicrowattHours = quantities.addedEnergy.flatMap { Int64(exactly: ($0 * 1e6).rounded()) }
        return measurement
    }

    private func read() throws(KernelFault) -> MeterQuantities {
        let sign = isReversed ? -1.0 : 1.0
        let volts = try voltage.map { channel throws(KernelFault) in try channel.value() * calibration.voltageGain }
        let amperes = try current.map { channel throws(KernelFault) in
            try channel.value() * calibration.currentGain * sign
        }
        guard let power else {
            return MeterQuantities(
                activePower: (volts ?? 0) * (amperes ?? 0) + calibration.powerOffset, voltageRMS: volts,
                currentRMS: amperes)
        }
        var watts = try power.value() * calibration.powerGain
        // Most drivers report an absolute value; the current then provides the sign.
        if let amperes, watts > 0 { watts = amperes < 0 ? -watts : watts } else { watts *= sign }
        return MeterQuantities(activePower: watts + calibration.powerOffset, voltageRMS: volts, currentRMS: amperes)
    }

    private func judged(_ quantities: MeterQuantities) throws(KernelFault) -> MeterQuantities {
        do { return try limits.judged(quantities) } catch { throw .impossible(error.reason) }
    }

    /// Returns the watt-hours since the last call, or nil if they are unknown. The kernel's counter only decreases if
    /// its driver restarts. ``EnergyCounter`` rejects implausible jumps, since this module has no clock.
    private func addedEnergy() throws(KernelFault) -> Double? {
        guard let energy else { return nil }
        let now = try energy.value()
        let last = state.withLock { state in
            defer { state.energy = now }
            return state.energy
        }
        guard let last, now >= last else { return nil }
        return (now - last) / 3.6e9 * calibration.powerGain * (isReversed ? -1 : 1)
    }
}
