import ProtocolCore

/// The placeholders in braces that are replaced when a rule fires.
enum Placeholders {
    static let names = ["rule", "plug", "value", "why", "time"]
    static let words = names.map { "{\($0)}" }.joined(separator: ", ")

    /// Returns the shape with a check that all placeholders are known.
    static func checked(_ shape: Shape<String>) -> Shape<String> {
        Shape(shape.form) { reader, tree, key in
            guard let text = shape.read(&reader, tree, key) else { return nil }
            if text.contains("{{") {
                reader.report(
                    tree.place, "templates are not supported", hint: "use placeholders in single braces: \(words)")
                return nil
            }
            if let name = unknown(in: text) {
                let meant = Suggestion.nearest(to: name, among: names).map { "did you mean {\($0)}?" }
                reader.report(
                    tree.place, "'{\(name)}' is not known in '\(key)'", hint: meant ?? "the placeholders are \(words)")
                return nil
            }
            return text
        }
    }

    /// Returns the first word of lower-case letters in braces that is not a placeholder, or nil.
    private static func unknown(in text: String) -> String? {
        for part in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            let name = part.prefix { ("a"..."z").contains($0) }
            guard !name.isEmpty, part.dropFirst(name.count).first == "}" else { continue }
            if !names.contains(String(name)) { return String(name) }
        }
        return nil
    }
}
