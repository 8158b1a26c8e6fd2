/// The quantities that only alternating current has, in steps of 0.1 VA, 0.1 var, 0.001 (power factor) and 1 mHz.
public struct AlternatingPower: Hashable, Sendable {
    /// Apparent power in tenths of a volt-ampere.
    public var apparentDecivoltAmperes: UInt32
    /// Reactive power in tenths of a var; positive for an inductive load.
    public var reactiveDecivars: Int32
    /// Active divided by apparent power in thousandths, -1000 to 1000.
    public var powerFactorThousandths: Int16
    /// The mains frequency in millihertz; nil if the meter does not measure it.
    public var millihertz: UInt32?

    /// Creates a value from the stored units.
    public init(
        apparentDecivoltAmperes: UInt32, reactiveDecivars: Int32, powerFactorThousandths: Int16,
        millihertz: UInt32? = nil
    ) {
        self.apparentDecivoltAmperes = apparentDecivoltAmperes
        self.reactiveDecivars = reactiveDecivars
        self.powerFactorThousandths = powerFactorThousandths
        self.millihertz = millihertz
    }

    /// Apparent power in volt-amperes.
    public var apparentPower: Double { Double(apparentDecivoltAmperes) / 10 }
    /// Reactive power in vars.
    public var reactivePower: Double { Double(reactiveDecivars) / 10 }
    /// Power factor, -1 to 1.
    public var powerFactor: Double { Double(powerFactorThousandths) / 1000 }
    /// Mains frequency in hertz; nil if the meter does not measure it.
    public var frequency: Double? { millihertz.map { Double($0) / 1000 } }
}
