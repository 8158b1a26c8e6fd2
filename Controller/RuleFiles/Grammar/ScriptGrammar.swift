import RuleModel

/// The grammar of a script's `on`: the triggers that call the function, and the settings that a rule would have.
enum ScriptGrammar {
    struct Declaration: Sendable {
        var triggers: [Trigger]
        /// The settings of the rule, without triggers and actions. The rule's name is the `name` of the declaration, or
        /// empty.
        var settings: Rule
    }

    private static let name: Key<String> = Key(
        "name", Shape.name("movie night"), "The rule's name, after the script's name. Default: the line number."
    )

    static func declaration(of script: String) -> Mapping<Declaration> {
        let when: Key<[Trigger]> = Key(
            "when", Shape.mapping(TriggerGrammar.trigger(ofScript: script)).oneOrMore(of: "triggers"),
            "The trigger, or a list of triggers, that calls the function.")
        return Mapping(
            "declaration", "'on'", "A function that is called when one of the triggers occurs.",
            example: "{ when: { plug: Hall, button: pressed } }",
            keys: [
                when.needed, name.optional, RuleGrammar.cooldown.optional, RuleGrammar.limit.optional,
                RuleGrammar.late.optional, RuleGrammar.away.optional,
            ]
        ) { reader, fields in
            var settings = RuleGrammar.settings(&reader, fields)
            settings.name = reader.value(name, fields) ?? ""
            if let first = settings.name.utf8.first, (0x30...0x39).contains(first) {
                reader.report(
                    fields.entries[name.name]?.value.place ?? fields.place,
                    "the name '\(settings.name)' begins with a digit",
                    hint: "digits are reserved for line numbers; begin with a letter")
            }
            return reader.value(when, fields).map { Declaration(triggers: $0, settings: settings) }
        }
    }
}
