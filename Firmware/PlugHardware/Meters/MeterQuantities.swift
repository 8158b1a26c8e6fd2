public import Metering

/// A meter's measurement in SI units without rounding. It is converted to a ``Measurement`` once, at the end.
public struct MeterQuantities: Hashable, Sendable {
    /// Active power in watts; negative when the load feeds back.
    public var activePower: Double
    /// Volts; nil if the meter does not measure it.
    public var voltageRMS: Double?
    /// Amperes; negative only for direct current that flows back. Nil if the meter does not measure it.
    public var currentRMS: Double?
    /// Vars; nil for direct current.
    public var reactivePower: Double?
    /// Hertz; nil if the meter has no mains to measure.
    public var frequency: Double?
    /// Watt-hours since the previous measurement from the meter's own counter; nil if they are unknown.
    public var addedEnergy: Double?

    /// Creates quantities.
    public init(
        activePower: Double, voltageRMS: Double? = nil, currentRMS: Double? = nil, reactivePower: Double? = nil,
        frequency: Double? = nil, addedEnergy: Double? = nil
    ) {
        self.activePower = activePower
        self.voltageRMS = voltageRMS
        self.currentRMS = currentRMS
        self.reactivePower = reactivePower
        self.frequency = frequency
        self.addedEnergy = addedEnergy
    }

    /// Apparent power in volt-amperes.
    public var apparentPower: Double? {
        guard let voltageRMS, let currentRMS else { return nil }
        return abs(voltageRMS * currentRMS)
    }

    /// The power factor, -1 to 1, clamped if the quantities disagree; 0 without current.
    public var powerFactor: Double? {
        apparentPower.map { $0 == 0 ? 0 : min(max(activePower / $0, -1), 1) }
    }

    /// All quantities except the energy, rounded to the stored resolution: 0.1 W, 0.1 V, 1 mA, 0.1 VA, 0.1 var, 0.001
    /// for the power factor, 1 mHz. Nil if a value is not finite or out of range.
    public var measurement: Measurement? {
        var rounded = Measurement(watts: activePower, volts: voltageRMS, amperes: currentRMS.map { abs($0) })
        if let reactivePower, let apparentPower, let powerFactor {
            guard let voltAmperes = UInt32(exactly: (apparentPower * 10).rounded()),
                let vars = Int32(exactly: (reactivePower * 10).rounded())
            else { return nil }
            rounded?.alternating = AlternatingPower(
                apparentDecivoltAmperes: voltAmperes, reactiveDecivars: vars,
                powerFactorThousandths: Int16((powerFactor * 1000).rounded()),
                millihertz: frequency.flatMap { UInt32(exactly: ($0 * 1000).rounded()) })
        }
        return rounded
    }
}

/// A meter that the user can calibrate.
public protocol CalibratedMeter: PowerMeter {
    /// Returns the values of ``PowerMeter/measure()`` without rounding.
    func quantities() throws(HardwareFault) -> MeterQuantities
    /// The kind of power supply.
    var supply: CalibrationRun.Supply { get }
    /// False if the power is computed from voltage and current, so that it needs no own gain.
    var measuresPower: Bool { get }
}
