import PlugModel
import RuleModel

/// The values of `then`.
enum ActionGrammar {
    static let action: Mapping<RuleAction> = mapping(of: switching + waiting + EffectGrammar.effects)
    /// The actions that a script's answer may contain: those that do not wait, because scripts have timers.
    static let immediate: Mapping<RuleAction> = mapping(of: switching + EffectGrammar.effects)

    private static func mapping(of variants: [Variant<RuleAction>]) -> Mapping<RuleAction> {
        Mapping(
            "action", "an action", "An action of the rule. The actions of a list run in order.",
            example: "{ turn on: Lamp }",
            conflictHint: "begin each action with '- '", oneOf: variants)
    }

    static let plugs = Shape.name("Floor Lamp", "Amplifier").oneOrMore(of: "plugs")
    private static let plug = Key("plug", plugs, "The name of the plug, or a list of names.")
    private static let autoOff = Key(
        "for", Shape.quantity(Times.autoOff),
        "The plug turns itself off after this time, even if the controller is not running.")
    private static let turnOn = plugs.map { RuleAction.turnOn($0) }.or(Shape.mapping(turnOnFor))

    private static let switching: [Variant<RuleAction>] = [
        Variant(Key("turn on", turnOn, "Turns plugs on.")) { _, _, action in action },
        Variant(Key("turn off", plugs, "Turns plugs off.")) { _, _, plugs in .turnOff(plugs) },
        Variant(Key("toggle", plugs, "Turns plugs on if they are off, and off if they are on.")) { _, _, plugs in
            .toggle(plugs)
        },
        Variant(Key("dim", Shape.mapping(dim), "Makes dimmers brighter or darker.")) { _, _, action in action },
        Variant(
            Key(
                "restore", plugs,
                "Restores the state that the plugs had before a rule last changed them. "
                    + "A plug that was switched by other means since then stays unchanged."
            )
        ) { _, _, plugs in .restore(plugs) },
    ]

    private static let turnOnFor = Mapping<RuleAction>(
        "turnOn", "'turn on'", "Turns plugs on for a limited time.", example: "{ plug: Fan, for: 15 min }",
        keys: [plug.needed, autoOff.optional]
    ) { reader, fields in
        let autoOff = reader.value(autoOff, fields)
        return reader.value(plug, fields).map { .turnOn($0, autoOff: autoOff) }
    }

    private static let over = Key(
        "over", Shape.quantity(Times.transition), "Duration of the transition. Default: none.")

    private static let dim = Mapping<RuleAction>(
        "dim", "'dim'", "The new level of dimmers.", example: "{ plug: Lamp, to: 30 %, over: 2 s }",
        conflictHint: "'to' is the new level, 'by' the difference",
        oneOf: [
            Variant(
                Key("to", Shape.quantity(Quantities.level), "The new level."), needs: [plug.needed],
                takes: [over.optional]
            ) { reader, fields, level in
                let over = reader.value(over, fields) ?? .zero
                return reader.value(plug, fields).map { .dim($0, to: level, over: over) }
            },
            Variant(
                Key(
                    "by", Shape.quantity(Quantities.levelChange),
                    "The change of the level; negative values make it darker."),
                needs: [plug.needed], takes: [over.optional]
            ) { reader, fields, permille in
                let over = reader.value(over, fields) ?? .zero
                return reader.value(plug, fields).map { .dimBy($0, permille: permille, over: over) }
            },
        ])

    // MARK: - Waiting

    private static let timeout = Key("timeout", Shape.quantity(Times.duration), "The maximum waiting time.")
    private static let otherwise = Key(
        "otherwise", Words.timeouts,
        "The handling of the following actions if the condition does not hold in time. Default: stop.")

    private static let waiting: [Variant<RuleAction>] = [
        Variant(Key("wait", Shape.quantity(Times.duration), "Waits for this time before the next action.")) {
            _, _, duration in .wait(duration)
        },
        Variant(
            Key("wait until", ConditionGrammar.one, "Waits until this condition holds before the next action."),
            needs: [timeout.needed], takes: [otherwise.optional]
        ) { reader, fields, condition in
            let otherwise = reader.value(otherwise, fields) ?? .stop
            return reader.value(timeout, fields).map { .waitUntil(condition, timeout: $0, otherwise) }
        },
    ]
}
