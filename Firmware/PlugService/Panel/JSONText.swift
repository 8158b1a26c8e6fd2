/// A field of a JSON object whose value is text.
func field(_ name: String, _ value: String) -> String { "\(quoted(name)):\(quoted(value))" }

/// Names of interfaces and what a chip's driver says may have quotation marks in them, and bytes that are no letters.
func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        // Also DEL and the C1 controls, which a terminal may take for commands.
        case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
            "\\u" + String(repeating: "0", count: scalar.value < 16 ? 3 : 2) + String(scalar.value, radix: 16)
        default: String(scalar)
        }
    }
    return "\"\(escaped.joined())\""
}
