public import ProtocolCore

/// What a meter measured at one instant, quantised to what the wire and the history keep: 0.1 W, 0.1 V, 1 mA, 1 mWh.
/// Quantised once, where it is measured; every copy from there on is lossless.
public struct Reading: Hashable, Sendable {
    /// The plug's clock.
    public var time: Instant
    /// Active power in tenths of a watt; negative when the load feeds back.
    public var deciwatts: Int32
    /// RMS voltage in tenths of a volt; nil from a meter that has none.
    public var decivolts: UInt16?
    /// RMS current in milliamperes; nil from a meter that has none.
    public var milliamperes: UInt32?
    /// Nil from a meter that measures none of it.
    public var alternating: AlternatingPower?
    /// Active energy in milliwatt-hours since the plug was made; only rises.
    public var milliwattHours: UInt64

    public init(
        time: Instant, deciwatts: Int32, decivolts: UInt16? = nil, milliamperes: UInt32? = nil,
        alternating: AlternatingPower? = nil, milliwattHours: UInt64
    ) {
        self.time = time
        self.deciwatts = deciwatts
        self.decivolts = decivolts
        self.milliamperes = milliamperes
        self.alternating = alternating
        self.milliwattHours = milliwattHours
    }

    /// Watts.
    public var activePower: Double { Double(deciwatts) / 10 }
    /// Volts.
    public var voltageRMS: Double? { decivolts.map { Double($0) / 10 } }
    /// Amperes.
    public var currentRMS: Double? { milliamperes.map { Double($0) / 1000 } }
    /// Watt-hours.
    public var activeEnergy: Double { Double(milliwattHours) / 1000 }
}
