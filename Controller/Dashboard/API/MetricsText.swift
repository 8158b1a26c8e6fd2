/// Builds Prometheus's text format 0.0.4: one family after another, each with its help text.
struct MetricsText {
    enum Kind: String {
        case gauge, counter
    }

    typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    /// Adds a family of metrics.
    ///
    /// - Parameter samples: the samples of the family. Without samples the family is left out.
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

    /// Escapes a label value per Unicode scalar. A comparison of characters would miss a quotation mark that is
    /// followed by a combining accent, because Swift treats both as one character.
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
