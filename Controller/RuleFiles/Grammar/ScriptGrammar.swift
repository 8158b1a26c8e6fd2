import Automation

/// What stands in an `on` of a script: what sets its function off and what stands beside that in a rule.
enum ScriptGrammar {
    struct Declaration: Sendable {
        var triggers: [Trigger]
        /// With all but a name, triggers and actions.
        var settings: Rule
    }

    static func declaration(of script: String) -> Mapping<Declaration> {
        let when: Key<[Trigger]> = Key(
            "when", Shape.mapping(TriggerGrammar.trigger(ofScript: script)).oneOrMore(of: "triggers"),
            "What calls the function.")
        return Mapping(
            "declaration", "'on'", "A function that is called when one of the triggers happens.",
            example: "{ when: { plug: Hall, button: pressed } }",
            keys: [
                when.needed, RuleGrammar.cooldown.optional, RuleGrammar.limit.optional, RuleGrammar.late.optional,
                RuleGrammar.away.optional,
            ]
        ) { reader, fields in
            let settings = RuleGrammar.settings(&reader, fields)
            return reader.value(when, fields).map { Declaration(triggers: $0, settings: settings) }
        }
    }
}
