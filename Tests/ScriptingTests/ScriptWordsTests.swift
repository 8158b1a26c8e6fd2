import Scripting
import Testing

@Suite("Names in the source of a script") struct ScriptWordsTests {
    @Test("Names of plugs and other texts are found with their lines") func namesOfPlugsAndOtherTexts() {
        let words = ScriptWords(
            """
            -- plug("Not this")
            --[[ plug("nor
            this") ]]
            on("Television", "rises above", 40, function()
              plug("Ceiling Light"):off()
              plug 'Floor Lamp':on()
              plug(name):on()
              log([==[ "quoted" ]==])
              plug("Ceiling Light"):dim(40)
              plug("Aunt \\"May\\"'s"):on()
            end)
            """)
        #expect(words.plugs.map(\.text) == ["Ceiling Light", "Floor Lamp", "Aunt \"May\"'s"])
        #expect(words.plugs.map(\.line) == [5, 6, 10])
        #expect(words.others.map(\.text) == ["rises above"])
    }

    @Test(
        "A text that is only a part of a concatenated name is not listed as a plug",
        arguments: ["plug(\"P\"..i)", "plug(\"P\" .. i):on()", "plug(\"P\"\n  ..i)", "plug 'P'..i"])
    func aPartOfANameIsNone(_ source: String) {
        #expect(ScriptWords(source).plugs.isEmpty && ScriptWords(source).others.map(\.text) == ["P"])
    }

    @Test(
        "The scan of a source with unterminated text or a numeric escape ends and finds no plug",
        arguments: ["plug(\"open", "plug(\"a\\", "[[", "--[==[", "\"a\nb\"", "plug(\"\\65\")"])
    func whatIsCutShortEnds(_ source: String) {
        #expect(ScriptWords(source).plugs.isEmpty)
    }
}
