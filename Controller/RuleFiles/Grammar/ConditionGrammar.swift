import PlugModel
import RuleModel

/// A condition with its place in the file, for messages.
struct LocatedCondition: Sendable {
    var condition: Condition
    var place: Place
}

/// The values of `if`, `wait until`, `all`, `any` and `not`.
enum ConditionGrammar {
    /// One entry. If it has several conditions, every condition must hold.
    static let condition: Mapping<[LocatedCondition]> = Mapping(
        "condition", "a condition",
        "A condition. In 'if' it is evaluated once, when a trigger occurs. If it has several keys, all must hold.",
        example: "{ plug: Amplifier, relay: on }", anyOf: ofTheClock + ofPlugs + nested)

    /// One entry, as one condition.
    static let single: Shape<Condition> = Shape.mapping(condition).map(all)
    /// One entry or a list, as one condition; all entries must hold.
    static let one: Shape<Condition> = Shape.mapping(condition).oneOrMore(of: "conditions").map {
        all($0.flatMap { $0 })
    }

    @Sendable private static func all(_ parts: [LocatedCondition]) -> Condition {
        parts.count == 1 ? parts[0].condition : .all(parts.map(\.condition))
    }

    private static func variant<Head>(
        _ head: Key<Head>, _ condition: @escaping @Sendable (Head) -> Condition
    ) -> Variant<LocatedCondition> {
        Variant(head) { _, fields, value in LocatedCondition(condition: condition(value), place: fields.place) }
    }

    private static func variant<Head>(
        ofPlug head: Key<Head>, _ condition: @escaping @Sendable (String, Head) -> Condition
    ) -> Variant<LocatedCondition> {
        Variant(head, needs: [plug.needed]) { reader, fields, value in
            reader.value(plug, fields).map { LocatedCondition(condition: condition($0, value), place: fields.place) }
        }
    }

    // MARK: - Subjects of conditions

    private static let plug = Key("plug", Shape.name("Amplifier"), "The name of the plug.")

    private static let ofTheClock: [Variant<LocatedCondition>] = [
        variant(Key("time", Shape.mapping(window), "The time of day is in this window.")) { .time($0) },
        variant(Key("weekdays", Words.weekdays, "Today is one of these days.")) { .weekdays($0) },
    ]

    private static let ofPlugs: [Variant<LocatedCondition>] = [
        variant(ofPlug: Key("relay", Words.onOff, "The state of the relay.")) { .relay(plug: $0, on: $1) },
        variant(ofPlug: Key("level", Shape.mapping(level), "The level of a dimmer.")) { plug, bounds in
            all(of: bounds.map { .level(plug: plug, $0) })
        },
        variant(ofPlug: Key("active power", Shape.mapping(power), "The current active power.")) { plug, bounds in
            all(of: bounds.map { .activePower(plug: plug, $0) })
        },
        variant(ofPlug: Key("connection", Words.connections, "The connection of the plug.")) {
            .present(plug: $0, $1)
        },
    ]

    private static func all(of parts: [Condition]) -> Condition { parts.count == 1 ? parts[0] : .all(parts) }

    private static let entries: Shape<[Condition]> = Shape.mapping(condition).map(all).list(
        of: "conditions", 1...RuleFileLimits.entries)

    private static let nested: [Variant<LocatedCondition>] = [
        variant(Key("all", entries, "All conditions of the list hold.")) { .all($0) },
        variant(Key("any", entries, "At least one condition of the list holds.")) { .any($0) },
        variant(Key("not", single, "The condition does not hold. To negate several, put them into 'all' or 'any'.")) {
            .not($0)
        },
    ]

    private static let level = bounds("levelBounds", "'level'", "{ above: 30 % }", Quantities.level)
    private static let power = bounds("powerBounds", "a condition's 'active power'", "{ below: 5 W }", Quantities.watts)

    private static func bounds<Value>(
        _ id: String, _ what: String, _ example: String, _ kind: QuantityKind<Value>
    ) -> Mapping<[Bound<Value>]> {
        Mapping(
            id, what, "Above a value, below a value, or between two values.", example: example,
            anyOf: [
                Variant(Key("above", Shape.quantity(kind), "More than this.")) { _, _, value in Bound.above(value) },
                Variant(Key("below", Shape.quantity(kind), "Less than this.")) { _, _, value in Bound.below(value) },
            ])
    }

    // MARK: - The window of a day

    private static let sunPoint = Mapping<DailyWindow.Point>(
        "sunPoint", "a time by the sun", "A time relative to sunrise or sunset.",
        example: "{ sunset: -30 min }", conflictHint: "each end of the window is one time",
        oneOf: SunEvent.allCases.map { event in
            Variant(
                Key(
                    event.rawValue, Shape.quantity(Times.sunOffset),
                    "The offset after \(event.rawValue); negative values are before it.")
            ) {
                _, _, offset in
                .sun(event, offset: offset)
            }
        })

    private static let point = Shape.quantity(Times.windowEnd).or(Shape.mapping(sunPoint))

    private enum Side: Sendable {
        case after(DailyWindow.Point)
        case before(DailyWindow.Point)
    }

    private static let sides = Mapping<[Side]>(
        "window", "'time'",
        "From 'after' (inclusive) to 'before' (exclusive). If 'before' is earlier than 'after', the window spans midnight.",
        example: "{ after: \"17:00\", before: \"02:00\" }",
        anyOf: [
            Variant(Key("after", point, "The beginning. Default: midnight.")) { _, _, point in .after(point) },
            Variant(Key("before", point, "The end. Default: midnight.")) { _, _, point in .before(point) },
        ])

    private static let window = Mapping<DailyWindow>(form: sides.form) { reader, tree in
        guard let sides = sides.read(&reader, tree) else { return nil }
        var window = DailyWindow()
        for side in sides {
            switch side {
            case .after(let point): window.after = point
            case .before(let point): window.before = point
            }
        }
        guard window.after != window.before else {
            reader.report(
                tree.place, "'after' and 'before' are the same time",
                hint: "delete 'time' if the rule applies all day")
            return nil
        }
        return window
    }
}
