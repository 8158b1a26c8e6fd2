/// Checks that a body is declared as JSON. Browsers let a form of another site send text, but they send JSON only after
/// a CORS preflight request.
enum ContentTypeCheck {
    /// - Parameter types: every Content-Type header.
    static func isJSON(_ types: [String]) -> Bool {
        guard types.count == 1 else { return false }
        let parts = types[0].lowercased().split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.drop { $0 == " " || $0 == "\t" }
        }
        let name = parts[0].prefix { $0 != " " && $0 != "\t" }
        return name == "application/json"
            && parts.dropFirst().allSatisfy { ["", "charset=utf-8", "charset=\"utf-8\""].contains($0) }
    }
}
