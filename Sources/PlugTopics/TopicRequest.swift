import JSONText
public import PlugModel
import ProtocolCore

/// A parsed message on the topic `set` of a plug.
public struct TopicCommand: Hashable, Sendable {
    /// The requested action.
    public enum Deed: Hashable, Sendable {
        /// A command to the plug.
        case command(PlugCommand)
        /// An update of the plug's system.
        case update
    }

    /// The requested action.
    public var deed: Deed
    /// The expiry time in seconds since 1970; nil if the message has none.
    public var until: Double?

    /// Parses a command: the text `ON` or `OFF`, also in lower case, or a JSON object with exactly one of `on`,
    /// `level`, `identify`, `resetProtection` and `update`, and its options.
    ///
    /// - Throws: an error message for the user.
    public init(_ payload: [UInt8]) throws(TopicError) {
        switch payload {
        case Array("ON".utf8), Array("on".utf8): deed = .command(.setRelay(on: true, autoOff: nil))
        case Array("OFF".utf8), Array("off".utf8): deed = .command(.setRelay(on: false, autoOff: nil))
        default:
            var keys = try RequestKeys(payload)
            until = try keys.number("until", 0...32_503_680_000, "seconds since 1970")
            deed = try Self.deed(&keys)
            try keys.end(known: "on, autoOff, level, over, identify, resetProtection, update, until")
        }
    }

    private static func deed(_ keys: inout RequestKeys) throws(TopicError) -> Deed {
        let deeds = ["on", "level", "identify", "resetProtection", "update"].filter(keys.has)
        guard deeds.count == 1, let deed = deeds.first else {
            throw TopicError(
                "a command needs exactly one of \"on\", \"level\", \"identify\", \"resetProtection\" and \"update\"")
        }
        switch deed {
        case "on":
            let on = try keys.boolean("on")
            let autoOff = try keys.number("autoOff", 1...2_592_000, "seconds")
            if autoOff != nil, !on { throw TopicError("\"autoOff\" requires \"on\": true") }
            return .command(.setRelay(on: on, autoOff: autoOff.map { .seconds($0) }))
        case "level":
            guard let level = try keys.number("level", 0...100, "per cent") else {
                throw TopicError("\"level\" must be a number")
            }
            let over = try keys.number("over", 0...3600, "seconds")
            return .command(.setLevel(DimLevel(percent: level), transition: .seconds(over ?? 0)))
        default:
            guard try keys.boolean(deed) else { throw TopicError("\"\(deed)\" must be true or left out") }
            return deed == "update" ? .update : .command(deed == "identify" ? .identify : .resetProtection)
        }
    }
}

/// A parsed message on the topic `replay` of a plug: `{"after": 41}`.
public struct TopicReplay: Hashable, Sendable {
    /// The last event that the client has.
    public var after: SequenceNumber

    /// Parses a request for missed events.
    ///
    /// - Throws: an error message for the user.
    public init(_ payload: [UInt8]) throws(TopicError) {
        var keys = try RequestKeys(payload)
        // JSON numbers are exact up to 2^53.
        guard let number = try keys.number("after", 0...9_007_199_254_740_992, "the number of an event"),
            let after = SequenceNumber(exactly: number)
        else { throw TopicError("\"after\" must be the number of an event") }
        self.after = after
        try keys.end(known: "after")
    }
}

private struct RequestKeys {
    private var values: [String: JSONScalars.Value]

    init(_ payload: [UInt8]) throws(TopicError) {
        do throws(JSONError) {
            values = try JSONScalars(payload).values
        } catch {
            throw TopicError("the message is not a JSON object: \(error)")
        }
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    mutating func boolean(_ key: String) throws(TopicError) -> Bool {
        guard case .boolean(let value) = values.removeValue(forKey: key) else {
            throw TopicError("\"\(key)\" must be true or false")
        }
        return value
    }

    /// Removes and returns a number, or returns nil if the key is missing.
    mutating func number(
        _ key: String, _ range: ClosedRange<Double>, _ unit: String
    ) throws(TopicError) -> Double? {
        guard let value = values.removeValue(forKey: key) else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            let (least, most) = (Int(range.lowerBound), Int(range.upperBound))
            throw TopicError("\"\(key)\" must be a number from \(least) to \(most): \(unit)")
        }
        return number
    }

    /// Rejects unknown keys, because they may be misspelled.
    func end(known: String) throws(TopicError) {
        guard let key = values.keys.min() else { return }
        throw TopicError("unknown key \(JSONText.JSONObject.quoted(key)); the keys are \(known)")
    }
}
