/// Metrics in the text format of Prometheus, 0.0.4: family after family, each with what it means.
struct MetricsText {
    enum Kind: String {
        case gauge, counter
    }

    typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    /// - Parameter samples: those of the family; none leaves it out.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: Labels, value: Double)]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labels, value) in samples {
            text += name
            if !labels.isEmpty {
                text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
            }
            text += " \(Self.number(value))\n"
        }
    }

    /// By scalars: to Swift a quotation mark with a combining accent is one character, and no quotation mark.
    private static func escaped(_ value: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
            case "\"": result.append(contentsOf: "\\\"".unicodeScalars)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
