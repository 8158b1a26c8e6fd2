/// What a meter says at one instant, quantised as a ``Reading`` is: 0.1 W, 0.1 V, 1 mA. The total of the energy is counted by
/// ``EnergyCounter``, which outlives the meter's power.
public struct Measurement: Hashable, Sendable {
    /// Active power in tenths of a watt.
    public var deciwatts: Int32
    /// RMS voltage in tenths of a volt; nil from a meter that has none.
    public var decivolts: UInt16?
    /// RMS current in milliamperes; nil from a meter that has none.
    public var milliamperes: UInt32?
    /// Nil from a meter of direct current, and from one that cannot tell.
    public var alternating: AlternatingPower?
    /// Active energy in microwatt-hours since the measurement before, as the meter's own counter says, which sees what lies
    /// between two measurements; negative when the load fed back. Nil where it has none, or cannot say for this span.
    public var addedMicrowattHours: Int64?

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

    /// Rounds to the resolution that is kept. Nil when a value is not finite or lies outside what the resolution can hold,
    /// which no meter on a house's mains can honestly say.
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
