/// The reason why a bus transfer failed.
public struct BusFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Reason: Hashable, Sendable {
        /// No chip answers at the address.
        case noAcknowledge
        /// The bus is stuck, because a line is held low.
        case timedOut
        /// Another master won the arbitration.
        case arbitrationLost
        /// Any other reason, in the system's words.
        case other(String)
    }

    /// The kind of failure.
    public var reason: Reason
    /// The chip's address, 7 bits.
    public var address: UInt8

    /// Creates a fault.
    public init(_ reason: Reason, address: UInt8) {
        self.reason = reason
        self.address = address
    }

    public var description: String {
        let chip = "the chip at 0x" + String(address, radix: 16)
        return switch reason {
        case .noAcknowledge: "\(chip) does not answer: is it wired and powered, and is that its address?"
        case .timedOut: "the bus is stuck at \(chip): a line is held low, or pull-up resistors are missing"
        case .arbitrationLost: "another bus master interrupted the transfer with \(chip)"
        case .other(let text): "the transfer with \(chip) failed: \(text)"
        }
    }
}

/// An I²C bus with its chips.
public protocol I2CBus: Sendable {
    /// Performs one transfer: writes the bytes, then reads `count` bytes after a repeated start if `count` is above
    /// zero.
    ///
    /// - Parameter address: the chip's address, 7 bits.
    func transfer(to address: UInt8, write bytes: [UInt8], read count: Int) throws(BusFault) -> [UInt8]
}

/// A line that the plug drives. The board's wiring determines the active level: an active-low line is active at 0 V.
public protocol OutputLine: Sendable {
    /// Sets the line. The first call requests the line with this value, so that it never has a different one.
    func set(active: Bool) throws(HardwareFault)
}

/// A channel of pulse-width modulation.
public protocol PWMChannel: Sendable {
    /// Sets the active time.
    ///
    /// - Parameter nanoseconds: the active time per period, from 0 to the period.
    func set(activeFor nanoseconds: UInt64) throws(HardwareFault)
    /// The period in nanoseconds.
    var period: UInt64 { get }
}

/// A small text file of the kernel with one value, such as those of hwmon and iio.
public protocol AttributeFile: Sendable {
    /// Reads the text without surrounding white space.
    func read() throws(HardwareFault) -> String
}
