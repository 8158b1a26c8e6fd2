import ConfigurationFiles

/// The kind of a relay, and its state after plugd stops.
public struct RelayConfiguration: Hashable, Sendable {
    /// The kind of a relay, with its lines.
    public enum Kind: Hashable, Sendable {
        /// One line that is active while the relay is closed.
        case plain(LineConfiguration)
        /// A pulse on one coil switches it on, a pulse on the other switches it off.
        case latching(on: LineConfiguration, off: LineConfiguration, pulse: Duration)
    }

    /// The relay's state after plugd stops: as it is, or off.
    public enum OnExit: String, Hashable, Sendable, CaseIterable { case keep, off }

    /// The kind of the relay.
    public var kind: Kind
    /// The relay's state after plugd stops.
    public var onExit: OnExit

    /// Creates a relay.
    public init(_ kind: Kind, onExit: OnExit = .keep) {
        self.kind = kind
        self.onExit = onExit
    }
}

/// The line of a button, and its timing.
public struct ButtonConfiguration: Hashable, Sendable {
    /// The resistor that determines the level while the contact is open.
    public enum Bias: String, Hashable, Sendable, CaseIterable {
        case pullUp = "pull-up"
        case pullDown = "pull-down"
        case none
        case asIs = "as-is"
    }

    /// The line of the contact.
    public var line: LineConfiguration
    /// The resistor of the line.
    public var bias: Bias
    /// The time that the contact must be stable.
    public var debounce: Duration
    /// The window for double presses. Zero disables them, and single presses are then reported immediately.
    public var doublePressWindow: Duration
    /// True if the button is off, except for a factory reset.
    public var childLock: Bool

    /// Creates a button.
    public init(
        _ line: LineConfiguration, bias: Bias = .pullUp, debounce: Duration = .milliseconds(20),
        doublePressWindow: Duration = .milliseconds(300), childLock: Bool = false
    ) {
        self.line = line
        self.bias = bias
        self.debounce = debounce
        self.doublePressWindow = doublePressWindow
        self.childLock = childLock
    }
}

/// The PWM channel of a dimmer.
public struct DimmerConfiguration: Hashable, Sendable {
    /// The number in /sys/class/pwm/pwmchipN.
    public var chip: Int
    /// The channel of the chip.
    public var channel: Int
    /// The frequency in hertz.
    public var frequency: Double
    /// The smallest share of the period, 0 to 0.9, below which the load would flicker or switch off.
    public var minimum: Double
    /// The correction for the eye's perception of brightness; 1 is linear.
    public var gamma: Double
    /// True if the output is inverted.
    public var isInverted: Bool

    /// Creates a dimmer.
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

/// The kind of a meter and its properties.
public struct MeterConfiguration: Hashable, Sendable {
    /// The current channel of an ADE7953.
    public enum Channel: String, Hashable, Sendable, CaseIterable { case a = "A", b = "B" }

    /// The location of the kernel's measurements.
    public enum Attributes: Hashable, Sendable {
        /// The driver's name in the file `name` of its directory.
        case named(String)
        /// The directory.
        case directory(String)
    }

    /// The location of a chip on an I²C bus.
    public struct Chip: Hashable, Sendable {
        /// The bus's device, such as /dev/i2c-1.
        public var bus: String
        /// The chip's address, 7 bits.
        public var address: UInt8

        /// Creates the location of a chip.
        public init(bus: String, address: UInt8) {
            self.bus = bus
            self.address = address
        }
    }

    /// The chip or kernel driver of a meter.
    public enum Kind: Hashable, Sendable {
        /// A mains meter and its current channel.
        case ade7953(Chip, Channel)
        /// A meter for direct current up to 26 V.
        /// - Parameter shuntOhms: the resistance on the board.
        case ina219(Chip, shuntOhms: Double)
        /// A meter for direct current up to 36 V.
        /// - Parameter shuntOhms: the resistance on the board.
        case ina226(Chip, shuntOhms: Double)
        /// A meter for direct current with an integrated shunt.
        case ina260(Chip)
        /// A chip with a hwmon driver of the kernel.
        case hwmon(Attributes)
        /// A chip with an iio driver of the kernel.
        case iio(Attributes)
    }

    /// The chip or kernel driver.
    public var kind: Kind
    /// True if the meter's current input is wired in reverse.
    public var isReversed: Bool
    /// The time between two measurements.
    public var interval: Duration
    /// The power in watts below which the load counts as zero; nil for the driver's default.
    public var noLoad: Double?
    /// The calibration's file; nil for `calibration.toml` in the state directory.
    public var calibration: String?

    /// Creates a meter.
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
