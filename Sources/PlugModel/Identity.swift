/// The id of a plug: twelve lower-case hexadecimal digits, drawn once. Unlike names and addresses it never changes.
public struct PlugID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The twelve digits.
    public let rawValue: String

    /// Returns nil unless the text is exactly twelve lower-case hexadecimal digits.
    public init?(rawValue: String) {
        let digits = rawValue.utf8
        guard digits.count == 12,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }

    /// Draws a random id.
    public init(drawnFrom random: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef")
        rawValue = String((0..<12).map { _ in digits.randomElement(using: &random)! })
    }

    /// The twelve digits.
    public var description: String { rawValue }

    /// Returns the name with the id, such as `Lamp (0123456789ab)`. A controller uses it when two paired plugs have the
    /// same name.
    public func distinguishing(_ name: String) -> String { "\(name) (\(rawValue))" }

    /// Returns the name that was passed to ``distinguishing(_:)``, or nil if `name` does not end with this id.
    public func shared(in name: String) -> String? {
        let end = " (\(rawValue))"
        return name.hasSuffix(end) ? String(name.dropLast(end.count)) : nil
    }

    /// The last six digits, as in the host name `plug-XXXXXX.local`.
    public var short: String { String(rawValue.suffix(6)) }
}

/// Identifies a boot of the plug's kernel, as 16 bytes. Times of different boots cannot be compared.
public struct BootID: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are exactly 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// Identifies a command, as 16 bytes that the controller chooses. The plug recognizes a retry by it.
public struct RequestID: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are exactly 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Draws a random id.
    public init(drawnFrom random: inout some RandomNumberGenerator) {
        // Draws whole words because the system's generator makes a system call for each draw.
        bytes = [random.next(), random.next()].flatMap { (word: UInt64) in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }
}
