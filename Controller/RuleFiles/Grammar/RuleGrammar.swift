import RuleModel

/// The grammar of one rule.
enum RuleGrammar {
    static let rule: Mapping<PlacedRule> = Mapping(
        "rule", "a rule",
        "When one of the triggers occurs and all conditions hold, the actions run in order.",
        example: "{ rule: Light, when: { plug: Hall, button: pressed }, then: { toggle: Lamp } }",
        keys: [
            name.needed, when.needed, conditions.optional, then.needed, cooldown.optional, mode.optional,
            limit.optional, late.optional, away.optional,
        ]
    ) { reader, fields in
        let triggers = reader.value(when, fields)
        let conditions = (reader.value(conditions, fields) ?? []).flatMap { $0 }
        let actions = reader.value(then, fields)
        let settings = settings(&reader, fields)
        guard let name = reader.value(name, fields), let triggers, let actions else { return nil }
        var rule = settings
        rule.name = name
        rule.triggers = triggers.map(\.value)
        rule.conditions = conditions.map(\.value)
        rule.actions = actions.map(\.value)
        let places = RulePlaces(
            name: fields.entries[Self.name.name]?.value.place ?? fields.place, triggers: triggers.map(\.places),
            conditions: conditions.map(\.places), actions: actions.map(\.places),
            keys: fields.entries.mapValues(\.value.place))
        return PlacedRule(rule: rule, places: places)
    }

    private static let name: Key<String> = Key(
        "rule", Shape.name("Movie night"), "The name of the rule, unique within the house.")
    private static let when: Key<[Placed<Trigger>]> = Key(
        "when", Shape.mapping(TriggerGrammar.trigger).placed.oneOrMore(of: "triggers"),
        "The trigger, or a list of triggers.")
    private static let conditions: Key<[[Placed<Condition>]]> = Key(
        "if", Shape.mapping(ConditionGrammar.condition).placed.map(each).oneOrMore(of: "conditions"),
        "The condition, or a list of conditions that must all hold.")
    private static let then: Key<[Placed<RuleAction>]> = Key(
        "then", Shape.mapping(ActionGrammar.action).placed.oneOrMore(of: "actions"),
        "The action, or a list of actions that run in order.")

    @Sendable private static func each(_ entry: Placed<[LocatedCondition]>) -> [Placed<Condition>] {
        entry.value.map {
            Placed(value: $0.condition, places: PartPlaces(place: $0.place, words: entry.places.words))
        }
    }

    // MARK: - Settings

    static let cooldown: Key<Duration> = Key(
        "cooldown", Shape.quantity(Times.duration), "The rule does not fire again within this time after a firing.")

    private static let counts = 1...64
    private static let mode: Key<RuleMode> = Key(
        "mode",
        Shape<RuleMode>.words([
            ("single", .single, "A trigger during an earlier firing does not fire the rule."),
            ("restart", .restart, "The earlier firing is cancelled."),
            (
                "queued", .queued(atMost: RuleMode.usualCount),
                "The new firing waits until the earlier ones are done; at most 10 wait."
            ),
            ("parallel", .parallel(atMost: RuleMode.usualCount), "The firings run in parallel; at most 10."),
        ]).or(
            Shape.mapping(
                Mapping(
                    "mode", "'mode'", "The maximum number of waiting or parallel firings.", example: "{ queued: 5 }",
                    conflictHint: "use either 'queued' or 'parallel'",
                    oneOf: [
                        Variant(Key("queued", Shape.count(counts), "The maximum number of waiting firings.")) {
                            _, _, count in
                            .queued(atMost: count)
                        },
                        Variant(Key("parallel", Shape.count(counts), "The maximum number of parallel firings.")) {
                            _, _, count in
                            .parallel(atMost: count)
                        },
                    ]))),
        "The handling of a trigger while the actions of an earlier firing are still running. Default: single.")

    private static let firings: Key<Int> = Key("firings", Shape.count(1...1000), "The maximum number of firings.")
    private static let per: Key<Duration> = Key(
        "per", Shape.quantity(Times.limitSpan), "The length of the sliding period in which firings are counted.")
    static let limit: Key<FiringLimit> = Key(
        "limit",
        Shape.mapping(
            Mapping<FiringLimit>(
                "limit", "'limit'", "The maximum rate of firings.", example: "{ firings: 6, per: 1 h }",
                keys: [firings.needed, per.needed]
            ) { reader, fields in
                let span = reader.value(per, fields)
                guard let count = reader.value(firings, fields), let span else { return nil }
                return FiringLimit(count, within: span)
            }), "The maximum rate of firings. Default: 60 per minute.")

    private static let accept: Key<Duration> = Key(
        "accept", Shape.quantity(Times.age), "The maximum age of an event.")
    static let late: Key<Duration> = Key(
        "late",
        Shape<Duration>.words([
            ("refuse", Rule.usualMaximumAge, "An event that arrives more than 5 s late does not fire the rule."),
            ("accept", .seconds(3600), "Events up to 1 h old fire the rule."),
        ]).or(
            Shape.mapping(
                Mapping(
                    "late", "'late'", "The maximum age of an event.", example: "{ accept: 10 min }",
                    keys: [accept.needed]
                ) { reader, fields in reader.value(accept, fields) })),
        "The maximum age of an event that fires the rule. Default: refuse.")

    /// The value of `away`; a nil span means that commands to an unreachable plug are not stored.
    struct Memory: Sendable {
        var span: Duration?
    }

    private static let remember: Key<Duration> = Key(
        "remember", Shape.quantity(Times.duration), "How long the command is kept.")
    static let away: Key<Memory> = Key(
        "away",
        Shape.words([
            ("skip", Memory(span: nil), "The command is dropped and reported as not sent."),
            (
                "remember", Memory(span: .seconds(86_400)),
                "The last command is kept for 24 h and sent when the plug is back."
            ),
        ]).or(
            Shape.mapping(
                Mapping(
                    "away", "'away'", "How long the last command is kept.", example: "{ remember: 2 h }",
                    keys: [remember.needed]
                ) { reader, fields in Memory(span: reader.value(remember, fields)) })),
        "The handling of a command if the plug is away. Default: skip.")

    /// Reads the settings of a rule; missing ones have their defaults. The rule's name, triggers and actions are empty.
    static func settings(_ reader: inout RuleReader, _ fields: Fields) -> Rule {
        var rule = Rule(name: "", triggers: [], actions: [], cooldown: reader.value(cooldown, fields) ?? .zero)
        rule.mode = reader.value(mode, fields) ?? .single
        rule.limit = reader.value(limit, fields)
        rule.maximumAge = reader.value(late, fields) ?? Rule.usualMaximumAge
        rule.remembersAway = reader.value(away, fields)?.span
        return rule
    }
}

/// A rule with the places of its parts.
struct PlacedRule: Sendable {
    var rule: Rule
    var places: RulePlaces
}
