/// Computes a board's calibration from readings of a resistive load with known power. Rejects readings that would make
/// the meter less accurate, with the reason.
public struct CalibrationRun: Sendable {
    /// The supply that the meter measures, which determines the smallest load.
    public enum Supply: Hashable, Sendable {
        /// Mains voltage, or a low direct voltage.
        case mains, lowVoltage

        /// The smallest load in watts. With a smaller load on the mains, the gains would include the meter's offset and
        /// would be wrong for larger loads.
        public var smallestLoad: Double {
            switch self {
            case .mains: 60
            case .lowVoltage: 0.5
            }
        }
    }

    /// The power of the load in watts.
    public var knownPower: Double
    /// The voltage in volts, if a voltmeter was used.
    public var knownVoltage: Double?
    /// The kind of power supply.
    public var supply: Supply
    /// False if the power is computed from voltage and current, so that it needs no own gain.
    public var measuresPower: Bool
    /// The calibration that was active during the readings.
    public var used: Calibration

    /// The minimum number of readings. A mean of fewer readings is not accurate enough.
    public static let fewestReadings = 10
    /// The limit of a reading's deviation from the mean, as a fraction of the mean.
    public static let steadiness = 0.02
    /// The range of a resistive load's power factor before the calibration.
    public static let powerFactors = 0.9...1.1

    /// Creates a run.
    public init(
        knownPower: Double, knownVoltage: Double? = nil, supply: Supply = .mains, measuresPower: Bool = true,
        used: Calibration = Calibration()
    ) {
        self.knownPower = knownPower
        self.knownVoltage = knownVoltage
        self.supply = supply
        self.measuresPower = measuresPower
        self.used = used
    }

    /// Calculates the calibration.
    ///
    /// - Parameter readings: consecutive readings with the calibration ``used`` and ``MeterLimits/forCalibration``.
    /// - Throws: `CalibrationFault` if the readings are not usable.
    public func calibration(from readings: [MeterQuantities]) throws(CalibrationFault) -> Calibration {
        try checkLoad()
        let power = try mean(readings.map(\.activePower), "the active power")
        try check(power)
        var result = used
        if measuresPower { result.powerGain = try gain(used.powerGain, knownPower, power, "power_gain") }
        let voltage = try optionalMean(readings.map(\.voltageRMS), "the voltage")
        let current = try optionalMean(readings.map { $0.currentRMS.map { abs($0) } }, "the current")
        if let voltage, let current { try checkPowerFactor(power, voltage * current, readings) }
        if let voltage, let knownVoltage {
            result.voltageGain = try gain(used.voltageGain, knownVoltage, voltage, "voltage_gain")
        }
        if let current, let volts = knownVoltage ?? voltage {
            result.currentGain = try gain(used.currentGain, knownPower / volts, current, "current_gain")
        }
        return result
    }

    private func checkLoad() throws(CalibrationFault) {
        guard knownPower.isFinite, knownPower >= supply.smallestLoad else {
            throw CalibrationFault(
                reason: "a load of \(knownPower) W is too small: use a resistive load of at least "
                    + "\(supply.smallestLoad) W, such as an incandescent lamp or a heater")
        }
        guard knownVoltage.map({ $0.isFinite && $0 > 0 }) ?? true else {
            throw CalibrationFault(reason: "the voltage must be above zero, not \(knownVoltage ?? 0) V")
        }
    }

    private func check(_ power: Double) throws(CalibrationFault) {
        guard abs(power) > knownPower / 20 else {
            throw CalibrationFault(
                reason:
                    "the meter measures \(rounded(power)) W instead of \(knownPower) W: plug the load in, and turn the load and the "
                    + "relay on")
        }
        guard power > 0 else {
            throw CalibrationFault(
                reason:
                    "the meter measures a negative power (\(rounded(power)) W): its current input is reversed; "
                    + "set reversed = true in [meter] and calibrate again")
        }
    }

    private func checkPowerFactor(
        _ power: Double, _ apparent: Double, _ readings: [MeterQuantities]
    ) throws(CalibrationFault) {
        let factor = power / apparent
        let reactive = readings.compactMap(\.reactivePower).reduce(0, +) / Double(readings.count)
        // 0.44 is the reactive part at a power factor of 0.9.
        guard Self.powerFactors.contains(factor), abs(reactive) <= 0.44 * apparent else {
            throw CalibrationFault(
                reason:
                    "the load's power factor is \(rounded(factor)) with \(rounded(reactive)) var, but a resistive load has 1: "
                    + "motors, LED lamps and power supplies cannot be used to calibrate")
        }
    }

    private func optionalMean(_ values: [Double?], _ what: String) throws(CalibrationFault) -> Double? {
        let known = values.compactMap(\.self)
        return known.isEmpty ? nil : try mean(known, what)
    }

    private func mean(_ values: [Double], _ what: String) throws(CalibrationFault) -> Double {
        guard values.count >= Self.fewestReadings else {
            throw CalibrationFault(
                reason: "\(values.count) readings of \(what) are too few; at least \(Self.fewestReadings) are needed")
        }
        let mean = values.reduce(0, +) / Double(values.count)
        let farthest = values.reduce(0) { max($0, abs($1 - mean)) }
        // For a mean near zero, the relative deviation has no meaning, so an absolute limit applies.
        let isNothing = abs(mean) < knownPower / 20 && farthest < knownPower / 20
        guard mean.isFinite, isNothing || farthest <= Self.steadiness * abs(mean) else {
            throw CalibrationFault(
                reason:
                    "\(what) is unsteady: \(rounded(farthest)) away from a mean of \(rounded(mean)); wait until the load "
                    + "is warm, and use a load without a regulator")
        }
        return mean
    }

    private func gain(
        _ used: Double, _ known: Double, _ measured: Double, _ name: String
    ) throws(CalibrationFault) -> Double {
        let gain = used * known / measured
        guard (1 / Calibration.farthestGain...Calibration.farthestGain).contains(gain) else {
            throw CalibrationFault(
                reason:
                    "\(name) would be \(rounded(gain)), more than a factor \(Calibration.farthestGain) from the board's "
                    + "nominal value: check load, board and shunt")
        }
        return gain
    }

    /// Rounds to four decimals for messages.
    private func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }
}
