/// A plug's own id: twelve lower-case hexadecimal digits, drawn once in its life. Names and addresses change, this does not.
public struct PlugID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// Nil unless the text is exactly twelve lower-case hexadecimal digits.
    public init?(rawValue: String) {
        let digits = rawValue.utf8
        guard digits.count == 12,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }

    public init(drawnFrom random: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef")
        rawValue = String((0..<12).map { _ in digits.randomElement(using: &random)! })
    }

    public var description: String { rawValue }

    /// `Lamp (0123456789ab)`: how a controller calls each of two paired plugs that have one name.
    public func distinguishing(_ name: String) -> String { "\(name) (\(rawValue))" }

    /// The name that ``distinguishing(_:)`` was given; nil for any other.
    public func shared(in name: String) -> String? {
        let end = " (\(rawValue))"
        return name.hasSuffix(end) ? String(name.dropLast(end.count)) : nil
    }

    /// The last six digits, as in the host name `plug-XXXXXX.local`.
    public var short: String { String(rawValue.suffix(6)) }
}

/// The kernel boot that a plug's times belong to: 16 bytes. Times of different boots cannot be compared.
public struct BootID: Hashable, Sendable {
    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// Names one command, so that a retry is recognised: 16 bytes, chosen by the controller.
public struct RequestID: Hashable, Sendable {
    public let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    public init(drawnFrom random: inout some RandomNumberGenerator) {
        // Whole words: the system's generator takes a call of the kernel for each draw.
        bytes = [random.next(), random.next()].flatMap { (word: UInt64) in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }
}
