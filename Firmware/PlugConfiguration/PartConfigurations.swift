import ConfigurationFiles

/// What a relay is like, and what happens to it when plugd is told to stop.
public struct RelayConfiguration: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case plain(LineConfiguration)
        /// One coil turns it on and one off, each by a pulse.
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
    /// The resistor that decides the level while the contact is open.
    public enum Bias: String, Hashable, Sendable, CaseIterable {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case none
        case asIs = "as-is"
    }

    public var line: LineConfiguration
    public var bias: Bias
    public var debounce: Duration
    /// Zero: no double presses, and a single one is told at once.
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
    /// Hertz.
    public var frequency: Double
    /// Of the period, below which the load would flicker or go out: 0 to 0.9.
    public var minimum: Double
    /// How the eye's sense of brightness is met; 1 is linear.
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

    /// Where the kernel shows what it measures.
    public enum Attributes: Hashable, Sendable {
        /// The driver's name, as the file `name` beside the values says it.
        case named(String)
        /// The directory.
        case directory(String)
    }

    public struct Chip: Hashable, Sendable {
        /// The bus's device, such as /dev/i2c-1.
        public var bus: String
        /// 7 bits.
        public var address: UInt8

        public init(bus: String, address: UInt8) {
            self.bus = bus
            self.address = address
        }
    }

    public enum Kind: Hashable, Sendable {
        case ade7953(Chip, Channel)
        /// - Parameter shuntOhms: of the board.
        case ina219(Chip, shuntOhms: Double)
        case ina226(Chip, shuntOhms: Double)
        case ina260(Chip)
        case hwmon(Attributes)
        case iio(Attributes)
    }

    public var kind: Kind
    /// Its current is wired the other way round.
    public var isReversed: Bool
    public var interval: Duration
    /// Watts below which the load counts as none; nil leaves it to the driver.
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
