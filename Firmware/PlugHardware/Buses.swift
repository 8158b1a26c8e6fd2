/// Why a transfer on a bus failed.
public struct BusFault: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        /// Nobody answers at the address.
        case noAcknowledge
        /// The bus is stuck: somebody holds a line.
        case timedOut
        /// Another master won the bus.
        case arbitrationLost
        /// Anything else, in the system's words.
        case other(String)
    }

    public var reason: Reason
    /// The chip's address, 7 bits.
    public var address: UInt8

    public init(_ reason: Reason, address: UInt8) {
        self.reason = reason
        self.address = address
    }

    public var description: String {
        let chip = "the chip at 0x" + String(address, radix: 16)
        return switch reason {
        case .noAcknowledge: "\(chip) does not answer: is it wired and powered, and is that its address?"
        case .timedOut: "the bus is stuck at \(chip): a line is held low, or pull-up resistors are missing"
        case .arbitrationLost: "another master took the bus from \(chip)"
        case .other(let text): "talking to \(chip) failed: \(text)"
        }
    }
}

/// An I²C bus with chips on it.
public protocol I2CBus: Sendable {
    /// One transfer: writes the bytes, then, if `count` is above zero, reads so many after a repeated start.
    ///
    /// - Parameter address: 7 bits.
    func transfer(to address: UInt8, write bytes: [UInt8], read count: Int) throws(BusFault) -> [UInt8]
}

/// A line that the plug drives. Active is what the board's wiring makes it: an active-low line is at 0 V then.
public protocol OutputLine: Sendable {
    /// The first call takes the line with this value, so that it never has another one in between.
    func set(active: Bool) throws(HardwareFault)
}

/// A channel of pulse-width modulation.
public protocol PWMChannel: Sendable {
    /// - Parameters:
    ///   - nanoseconds: of each period that it is active; 0 to the period.
    func set(activeFor nanoseconds: UInt64) throws(HardwareFault)
    /// Nanoseconds.
    var period: UInt64 { get }
}

/// A small text file in which the kernel shows one value, such as hwmon's and iio's.
public protocol AttributeFile: Sendable {
    /// The text without the white space around it.
    func read() throws(HardwareFault) -> String
}
