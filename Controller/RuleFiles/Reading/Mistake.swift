/// What is wrong with a single value, and what would be right.
struct Mistake: Error, Hashable {
    var message: String
    var hint: String
}

extension Mistake {
    static func outOfRange(_ text: String, _ range: String) -> Mistake {
        Mistake(message: "'\(text)' is out of range", hint: range)
    }
}
