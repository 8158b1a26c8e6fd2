import ConfigurationFiles

/// The kind of a relay, and its state after plugd stops.
public struct RelayConfiguration: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case plain(LineConfiguration)
        /// A pulse on one coil switches it on, a pulse on the other switches it off.
        case latching(on: LineConfiguration, off: LineConfiguration, pulse: Duration)
    }

    public enum OnExit: String, Hashable, Sendable, CaseIterable { case keep, off }

    public var kind: Kind
    public var onExit: OnExit

    public init(_ kind: Kind, onExit: OnExit = .keep) {
        self.kind = kind
        self.onExit = onExit
    }
}

public struct ButtonConfiguration: Hashable, Sendable {
    /// The resistor that determines the level while the contact is open.
    public enum Bias: String, Hashable, Sendable, CaseIterable {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case none
        case asIs = "as-is"
    }

    public var line: LineConfiguration
    public var bias: Bias
    public var debounce: Duration
    /// The window for double presses. Zero disables them, and single presses are then reported immediately.
    public var doublePressWindow: Duration

    public init(
        _ line: LineConfiguration, bias: Bias = .pullUp, debounce: Duration = .milliseconds(20),
        doublePressWindow: Duration = .milliseconds(300)
    ) {
        self.line = line
        self.bias = bias
        self.debounce = debounce
        self.doublePressWindow = doublePressWindow
    }
}

public struct DimmerConfiguration: Hashable, Sendable {
    /// The number in /sys/class/pwm/pwmchipN.
    public var chip: Int
    public var channel: Int
    /// The frequency in hertz.
    public var frequency: Double
    /// The smallest share of the period, 0 to 0.9, below which the load would flicker or switch off.
    public var minimum: Double
    /// The correction for the eye's perception of brightness; 1 is linear.
    public var gamma: Double
    public var isInverted: Bool

    public init(
        chip: Int, channel: Int, frequency: Double = 1000, minimum: Double = 0, gamma: Double = 1,
        isInverted: Bool = false
    ) {
        self.chip = chip
        self.channel = channel
        self.frequency = frequency
        self.minimum = minimum
        self.gamma = gamma
        self.isInverted = isInverted
    }
}

public struct MeterConfiguration: Hashable, Sendable {
    public enum Channel: String, Hashable, Sendable, CaseIterable { case a = "A", b = "B" }

    /// The location of the kernel's measurements.
    public enum Attributes: Hashable, Sendable {
        /// The driver's name in the file `name` of its directory.
        case named(String)
        /// The directory.
        case directory(String)
    }

    public struct Chip: Hashable, Sendable {
        /// The bus's device, such as /dev/i2c-1.
        public var bus: String
        /// The chip's address, 7 bits.
        public var address: UInt8

        public init(bus: String, address: UInt8) {
            self.bus = bus
            self.address = address
        }
    }

    public enum Kind: Hashable, Sendable {
        case ade7953(Chip, Channel)
        /// - Parameter shuntOhms: the resistance on the board.
        case ina219(Chip, shuntOhms: Double)
        case ina226(Chip, shuntOhms: Double)
        case ina260(Chip)
        case hwmon(Attributes)
        case iio(Attributes)
    }

    public var kind: Kind
    /// True if its current is wired in reverse.
    public var isReversed: Bool
    public var interval: Duration
    /// The power in watts below which the load counts as zero; nil for the driver's default.
    public var noLoad: Double?
    /// The calibration's file; nil for `calibration.toml` in the state directory.
    public var calibration: String?

    public init(
        _ kind: Kind, isReversed: Bool = false, interval: Duration = .seconds(1), noLoad: Double? = nil,
        calibration: String? = nil
    ) {
        self.kind = kind
        self.isReversed = isReversed
        self.interval = interval
        self.noLoad = noLoad
        self.calibration = calibration
    }
}
