/// A JSON object (RFC 8259) as text, built key by key in insertion order. For modules that do not use Foundation.
public struct JSONObject: Sendable {
    private var fields: [String] = []

    /// Creates an empty object.
    public init() {}

    /// The whole object on one line.
    public var text: String { "{" + fields.joined(separator: ",") + "}" }

    /// Adds a text.
    public mutating func add(_ key: String, _ value: String) { add(key, json: Self.quoted(value)) }
    /// Adds a boolean.
    public mutating func add(_ key: String, _ value: Bool) { add(key, json: value ? "true" : "false") }
    /// Adds an integer.
    public mutating func add(_ key: String, _ value: some BinaryInteger) { add(key, json: "\(value)") }
    /// Adds a list of texts.
    public mutating func add(_ key: String, _ values: [String]) {
        add(key, json: "[" + values.map(Self.quoted).joined(separator: ",") + "]")
    }
    /// Adds a nested object.
    public mutating func add(_ key: String, _ value: JSONObject) { add(key, json: value.text) }
    /// Adds a list of objects.
    public mutating func add(_ key: String, _ values: [JSONObject]) {
        add(key, json: "[" + values.map(\.text).joined(separator: ",") + "]")
    }
    /// Adds a null.
    public mutating func addNull(_ key: String) { add(key, json: "null") }

    /// Adds a number. JSON cannot represent infinite values and NaN, so they become null.
    public mutating func add(_ key: String, _ value: Double) {
        guard value.isFinite else { return addNull(key) }
        add(key, json: Int64(exactly: value).map { "\($0)" } ?? "\(value)")
    }

    /// Adds a value in JSON syntax.
    ///
    /// - Parameter json: one complete JSON value.
    public mutating func add(_ key: String, json: String) { fields.append("\(Self.quoted(key)):\(json)") }

    /// Returns the text as a JSON string. Escapes all control characters, including DEL and C1, which a terminal may
    /// interpret as commands.
    public static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 >= 0x7F }) else {
            return "\"\(text)\""
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                quoted += "\\u" + String(repeating: "0", count: scalar.value < 16 ? 3 : 2)
                quoted += String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
