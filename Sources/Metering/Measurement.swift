/// A meter's measurement at one instant, quantised like a ``Reading``: 0.1 W, 0.1 V, 1 mA. It has no total energy,
/// because a meter may lose its total in a power cut; ``EnergyCounter`` has the total.
public struct Measurement: Hashable, Sendable {
    /// Active power in tenths of a watt.
    public var deciwatts: Int32
    /// RMS voltage in tenths of a volt; nil if the meter does not measure it.
    public var decivolts: UInt16?
    /// RMS current in milliamperes; nil if the meter does not measure it.
    public var milliamperes: UInt32?
    /// The alternating-current quantities; nil if the meter does not measure them or measures direct current.
    public var alternating: AlternatingPower?
    /// Active energy in microwatt-hours since the previous measurement, from the meter's own counter, which covers the
    /// time between two measurements; negative if the load fed back. Nil if the meter has no counter, or no value for
    /// this interval.
    public var addedMicrowattHours: Int64?

    /// Creates a measurement from the stored units.
    public init(
        deciwatts: Int32, decivolts: UInt16? = nil, milliamperes: UInt32? = nil,
        alternating: AlternatingPower? = nil, addedMicrowattHours: Int64? = nil
    ) {
        self.deciwatts = deciwatts
        self.decivolts = decivolts
        self.milliamperes = milliamperes
        self.alternating = alternating
        self.addedMicrowattHours = addedMicrowattHours
    }

    /// Rounds to the stored resolution. Returns nil if a value is not finite or out of range, which is implausible for
    /// a meter on a house's mains.
    public init?(watts: Double, volts: Double? = nil, amperes: Double? = nil) {
        guard let deciwatts = Int32(exactly: (watts * 10).rounded()) else { return nil }
        self.init(deciwatts: deciwatts)
        if let volts {
            guard let decivolts = UInt16(exactly: (volts * 10).rounded()) else { return nil }
            self.decivolts = decivolts
        }
        if let amperes {
            guard let milliamperes = UInt32(exactly: (amperes * 1000).rounded()) else { return nil }
            self.milliamperes = milliamperes
        }
    }
}
