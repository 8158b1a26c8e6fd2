import ProtocolCore
import Testing

struct SuggestionTests {
    @Test(arguments: [
        ("Lampp", "Lamp"), ("televison", "Television"), ("Celing Light", "Ceiling Light"), ("Kettel", "Kettle"),
    ])
    func theNearestWordIsFoundWhateverItsCapitals(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: ["Television", "Ceiling Light", "Kettle", "Lamp"]) == expected)
    }

    @Test func whatIsFarFromEverythingHasNoSuggestion() {
        #expect(Suggestion.nearest(to: "Dishwasher", among: ["Lamp", "Kettle"]) == nil)
        #expect(Suggestion.nearest(to: "Lamp", among: []) == nil)
    }

    @Test func aWordTooLongToCompareHasNone() {
        #expect(Suggestion.nearest(to: String(repeating: "a", count: 65), among: ["a"]) == nil)
    }
}
