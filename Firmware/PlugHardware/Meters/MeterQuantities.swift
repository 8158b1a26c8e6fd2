public import Metering

/// What a meter measured, in SI units and not rounded. A ``Measurement`` is made of it once, at the end.
public struct MeterQuantities: Hashable, Sendable {
    /// Watts; negative when the load feeds back.
    public var activePower: Double
    /// Volts; nil from a meter that has none.
    public var voltageRMS: Double?
    /// Amperes; negative only where a direct current flows back. Nil from a meter that has none.
    public var currentRMS: Double?
    /// Vars; nil from a meter of direct current.
    public var reactivePower: Double?
    /// Hertz; nil where there is no mains to measure.
    public var frequency: Double?
    /// Watt-hours since the measurement before, from the meter's own counter; nil where it cannot say.
    public var addedEnergy: Double?

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

    /// Volt-amperes.
    public var apparentPower: Double? {
        guard let voltageRMS, let currentRMS else { return nil }
        return abs(voltageRMS * currentRMS)
    }

    /// -1 to 1, as far as the three quantities agree; 0 where nothing flows.
    public var powerFactor: Double? {
        apparentPower.map { $0 == 0 ? 0 : min(max(activePower / $0, -1), 1) }
    }

    /// All but the energy, rounded to what is kept: 0.1 W, 0.1 V, 1 mA, 0.1 VA, 0.1 var, 0.001, 1 mHz. Nil when a value is
    /// not finite or outside what that can hold.
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

/// A meter that a person can calibrate.
public protocol CalibratedMeter: PowerMeter {
    /// What ``PowerMeter/measure()`` measures, not rounded.
    func quantities() throws(HardwareFault) -> MeterQuantities
    /// What feeds it.
    var supply: CalibrationRun.Supply { get }
    /// False where the power is computed of voltage and current and so needs no gain of its own.
    var measuresPower: Bool { get }
}
