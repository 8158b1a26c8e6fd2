import ProtocolCore
import Testing

struct SuggestionTests {
    @Test(
        "The nearest word is suggested, regardless of case",
        arguments: [
            ("Lampp", "Lamp"), ("televison", "Television"), ("Celing Light", "Ceiling Light"), ("Kettel", "Kettle"),
        ])
    func theNearestWordIsFoundWhateverItsCapitals(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: ["Television", "Ceiling Light", "Kettle", "Lamp"]) == expected)
    }

    @Test("A word that is far from all others has no suggestion") func whatIsFarFromEverythingHasNoSuggestion() {
        #expect(Suggestion.nearest(to: "Dishwasher", among: ["Lamp", "Kettle"]) == nil)
        #expect(Suggestion.nearest(to: "Lamp", among: []) == nil)
    }

    @Test("A word above the length limit has no suggestion") func aWordTooLongToCompareHasNone() {
        #expect(Suggestion.nearest(to: String(repeating: "a", count: 65), among: ["a"]) == nil)
    }
}
