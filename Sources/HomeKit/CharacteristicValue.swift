internal import JSONText
import ProtocolCore

/// The value of a characteristic.
public enum CharacteristicValue: Hashable, Sendable {
    case boolean(Bool)
    case whole(Int64)
    case number(Double)
    case text(String)
    /// A value of the formats tlv8 and data, which is base 64 in JSON.
    case bytes([UInt8])

    /// The value as JSON.
    var json: String {
        switch self {
        case .boolean(let flag): flag ? "true" : "false"
        case .whole(let number): "\(number)"
        case .number(let number): number.isFinite ? Int64(exactly: number).map { "\($0)" } ?? "\(number)" : "null"
        case .text(let text): JSONObject.quoted(text)
        case .bytes(let bytes): JSONObject.quoted(Base64.encode(bytes))
        }
    }
}

/// The formats of values (HAP 6.6.3, table 6-5).
public enum CharacteristicFormat: String, Hashable, Sendable {
    case boolean = "bool"
    case uint8, uint16, uint32, uint64
    case integer = "int"
    case float
    case string
    case tlv8
    case data

    /// The range of an integer format; nil for the other formats. The range of uint64 ends at the largest `Int64`.
    var wholeNumbers: ClosedRange<Int64>? {
        switch self {
        case .uint8: 0...Int64(UInt8.max)
        case .uint16: 0...Int64(UInt16.max)
        case .uint32: 0...Int64(UInt32.max)
        case .uint64: 0...Int64.max
        case .integer: Int64(Int32.min)...Int64(Int32.max)
        case .boolean, .float, .string, .tlv8, .data: nil
        }
    }
}

/// The units of values (HAP 6.6.3, table 6-6).
public enum CharacteristicUnit: String, Hashable, Sendable {
    case celsius, percentage, arcdegrees, lux, seconds
}

/// The permissions of a characteristic in their order within attributes (HAP 6.6.3, table 6-4).
public enum CharacteristicPermission: String, Hashable, Sendable, CaseIterable {
    case pairedRead = "pr"
    case pairedWrite = "pw"
    case events = "ev"
    case additionalAuthorization = "aa"
    /// The characteristic accepts a write only after a `/prepare`.
    case timedWrite = "tw"
    case hidden = "hd"
    /// The answer to a write contains a value.
    case writeResponse = "wr"
}

/// The limits of numbers and texts (HAP 6.6.3, table 6-3).
public struct CharacteristicLimits: Hashable, Sendable {
    /// The minimum of a number, or nil for no minimum.
    public var minimum: Double?
    /// The maximum of a number, or nil for no maximum.
    public var maximum: Double?
    /// The step between valid numbers, or nil if controllers may use any step.
    public var step: Double?
    /// The valid whole numbers. If empty, all numbers between minimum and maximum are valid.
    public var validValues: [Int64]
    /// The limit of a text in bytes, at most 256 (HAP 6.6.3, table 6-3). If it is nil, the limit is 64 bytes.
    public var longestText: Int?

    /// Creates limits.
    public init(
        minimum: Double? = nil, maximum: Double? = nil, step: Double? = nil, validValues: [Int64] = [],
        longestText: Int? = nil
    ) {
        (self.minimum, self.maximum, self.step) = (minimum, maximum, step)
        (self.validValues, self.longestText) = (validValues, longestText)
    }

    /// No limits beyond those of the format.
    public static let none = CharacteristicLimits()
    static let commonTextLength = 64
    /// The limit of a value in the formats tlv8 and data, in bytes.
    static let bytesLimit = 4096
}
