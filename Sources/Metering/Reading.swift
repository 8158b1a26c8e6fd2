public import ProtocolCore

/// A meter's reading at one instant, quantised to the resolution of wire and history: 0.1 W, 0.1 V, 1 mA, 1 mWh. The
/// meter's driver quantises it once; every copy after that is lossless.
public struct Reading: Hashable, Sendable {
    /// The time on the plug's clock.
    public var time: Instant
    /// Active power in tenths of a watt; negative when the load feeds back.
    public var deciwatts: Int32
    /// RMS voltage in tenths of a volt; nil if the meter does not measure it.
    public var decivolts: UInt16?
    /// RMS current in milliamperes; nil if the meter does not measure it.
    public var milliamperes: UInt32?
    /// The alternating-current quantities; nil if the meter does not measure them.
    public var alternating: AlternatingPower?
    /// Active energy in milliwatt-hours since the last factory reset. After a loss of power the plug continues from the
    /// value in flash, which may be lower than the last reading.
    public var milliwattHours: UInt64

    /// Creates a reading from the stored units.
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

    /// Active power in watts.
    public var activePower: Double { Double(deciwatts) / 10 }
    /// RMS voltage in volts; nil if the meter does not measure it.
    public var voltageRMS: Double? { decivolts.map { Double($0) / 10 } }
    /// RMS current in amperes; nil if the meter does not measure it.
    public var currentRMS: Double? { milliamperes.map { Double($0) / 1000 } }
    /// Active energy in watt-hours.
    public var activeEnergy: Double { Double(milliwattHours) / 1000 }
}
