/// A mistake in a single value, and a hint about the correct form.
struct Mistake: Error, Hashable {
    var message: String
    var hint: String
}

extension Mistake {
    static func outOfRange(_ text: String, _ range: String) -> Mistake {
        Mistake(message: "'\(text)' is out of range", hint: range)
    }
}
