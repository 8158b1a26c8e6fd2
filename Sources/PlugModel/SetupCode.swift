/// A code for pairing with a plug: 80 random bits, not derived from any other value. The plug's own code is the one on
/// its label until an owner or a user of the plug's local panel replaces it. With the plug's own code, a controller can
/// pair while the pairing window is open. An invitation has a separate code, which does not require an open window.
///
/// A user sees 16 characters of base 32 (RFC 4648 section 6: A to Z and 2 to 7) in groups of four.
public struct SetupCode: Hashable, Sendable {
    static let byteCount = 10
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The ten bytes, which are the key material of the pairing proofs.
    package let bytes: [UInt8]

    /// Draws a code.
    ///
    /// - Parameter random: a generator that is suitable for secrets, such as the system's.
    public init(drawnFrom random: inout some RandomNumberGenerator) {
        bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Returns nil unless there are exactly ten bytes.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Parses a code that a user typed or a file contains. Case, spaces and dashes are ignored. The digits 0, 1 and 8,
    /// which the alphabet lacks, count as the letters O, I and B.
    ///
    /// - Throws: ``SetupCodeError``, which describes the error without repeating the text.
    public init(text: some StringProtocol) throws(SetupCodeError) {
        var bytes: [UInt8] = []
        var pending: UInt16 = 0
        var bits = 0
        var count = 0
        for character in text where !character.isWhitespace && character != "-" {
            guard let value = Self.value(of: character) else { throw .character(position: count + 1) }
            count += 1
            pending = pending << 5 | UInt16(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt16(bits)))
            }
            guard count <= 16 else { throw .length(atLeast: count) }
        }
        guard count == 16 else { throw .length(atLeast: count) }
        self.bytes = bytes
    }

    /// The code as a user reads it, in groups of four: `ABCD-EFGH-IJKL-MNOP`. It is secret and must not be logged.
    public var text: String {
        var characters: [UInt8] = []
        for index in 0..<16 {
            if index > 0, index.isMultiple(of: 4) { characters.append(UInt8(ascii: "-")) }
            // Each character has five bits, which span at most two bytes.
            let bit = index * 5
            let high = UInt16(bytes[bit / 8]) << 8
            let low = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
            characters.append(Self.alphabet[Int((high | low) >> UInt16(11 - bit % 8)) & 31])
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Returns the text for a QR code. Upper-case letters and digits need the least space in it.
    public func scannedText(_ plug: PlugID?) -> String {
        "SMARTPLUG:1:"
            + [plug?.rawValue.uppercased(), text.filter { $0 != "-" }].compactMap(\.self).joined(separator: ":")
    }

    private static func value(of character: Character) -> Int? {
        let read: Character =
            switch character {
            case "0": "O"
            case "1": "I"
            case "8": "B"
            case _: character
            }
        guard let ascii = read.uppercased().utf8.first, read.isASCII else { return nil }
        return alphabet.firstIndex(of: ascii)
    }
}

/// Hides the code, so that it does not appear in a log by mistake.
extension SetupCode: CustomStringConvertible, CustomReflectable {
    public var description: String { "a setup code" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a text is not a setup code.
public enum SetupCodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The character at this position is not in the alphabet. Positions count from 1, without spaces and dashes.
    case character(position: Int)
    /// The text does not have 16 characters. Parsing stops after the seventeenth.
    case length(atLeast: Int)

    public var description: String {
        switch self {
        case .character(let position):
            "character \(position) of the setup code is neither a letter nor a digit from 2 to 7"
        case .length(let count):
            "a setup code has 16 letters and digits, this has \(count > 16 ? "more" : "\(count)")"
        }
    }
}
