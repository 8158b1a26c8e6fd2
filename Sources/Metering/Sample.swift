public import ProtocolCore

/// One entry of a plug's history: the active power, voltage and current of a ``Measurement``, with its time rounded
/// down to milliseconds.
public struct Sample: Hashable, Sendable {
    /// The time on the plug's clock in milliseconds.
    public var milliseconds: Int64
    /// Active power in tenths of a watt.
    public var deciwatts: Int32
    /// RMS voltage in tenths of a volt; nil if the meter does not measure it.
    public var decivolts: UInt16?
    /// RMS current in milliamperes; nil if the meter does not measure it.
    public var milliamperes: UInt32?

    /// Creates a sample from the stored units.
    public init(milliseconds: Int64, deciwatts: Int32, decivolts: UInt16? = nil, milliamperes: UInt32? = nil) {
        self.milliseconds = milliseconds
        self.deciwatts = deciwatts
        self.decivolts = decivolts
        self.milliamperes = milliamperes
    }

    /// Creates the sample of a measurement. The time is rounded down to milliseconds.
    public init(_ measurement: Measurement, at time: Instant) {
        self.init(
            milliseconds: time.wholeMilliseconds, deciwatts: measurement.deciwatts, decivolts: measurement.decivolts,
            milliamperes: measurement.milliamperes)
    }

    /// The time on the plug's clock. Saturates outside the range of ``Instant`` (292 years).
    public var time: Instant {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard overflow else { return Instant(nanoseconds: product) }
        return Instant(nanoseconds: milliseconds < 0 ? .min : .max)
    }

    /// Active power in watts.
    public var activePower: Double { Double(deciwatts) / 10 }
    /// RMS voltage in volts; nil if the meter does not measure it.
    public var voltageRMS: Double? { decivolts.map { Double($0) / 10 } }
    /// RMS current in amperes; nil if the meter does not measure it.
    public var currentRMS: Double? { milliamperes.map { Double($0) / 1000 } }
}

extension Instant {
    /// Milliseconds, rounded down, so that all steps before and after zero have the same width.
    var wholeMilliseconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
