import ApplianceSense
import PlugModel
import RuleModel

/// The values of `when`.
enum TriggerGrammar {
    static let trigger: Mapping<Trigger> = mapping(of: inFiles)

    /// Returns the triggers of a script: those of files, and the script's own timers.
    static func trigger(ofScript script: String) -> Mapping<Trigger> {
        mapping(
            of: inFiles + [
                Variant(Key("timer", timerName, "The script's timer of this name ended.")) { _, _, name in
                    .timer(ScriptTimer(script: script, name: name))
                }
            ])
    }

    /// The name of a timer: one line of text.
    static let timerName = Shape<String>(
        .text(
            TextForm(
                pattern: #"^[^\u0000-\u001F\u007F-\u009F]+$"#, most: ScriptLimits.timerNameSize,
                examples: ["lights out"]))
    ) { reader, tree, key in
        guard let name = reader.text(tree, of: key, most: ScriptLimits.timerNameSize) else { return nil }
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            reader.report(tree.place, "the name of a timer must be one line", hint: "use letters, digits and spaces")
            return nil
        }
        return name
    }

    private static func mapping(of variants: [Variant<Trigger>]) -> Mapping<Trigger> {
        Mapping(
            "trigger", "a trigger",
            "An event that fires the rule. If 'when' is a list, any of its entries fires the rule.",
            example: "{ plug: Hall, button: pressed }",
            conflictHint: "make 'when' a list of two triggers: either fires the rule", oneOf: variants)
    }

    private static let inFiles: [Variant<Trigger>] =
        ofPlugs + ofTheClock + [
            Variant(Key("rule", Shape.name("Movie night"), "Another rule of this name fired.")) { _, _, name in
                .rule(name)
            }
        ]

    private static let plug: Key<String> = Key("plug", Shape.name("Television"), "The name of the plug.")
    private static let dwell: Key<Duration> = Key(
        "for", Shape.quantity(Times.duration), "How long the state must last before the rule fires.")
    private static let weekdays: Key<Weekdays> = Key(
        "weekdays", Words.weekdays, "Only on these days. Default: every day.")

    private static let ofPlugs: [Variant<Trigger>] = [
        Variant(
            Key("active power", Shape.mapping(power), "The active power crosses a threshold."), needs: [plug.needed]
        ) {
            reader, fields, edge in
            reader.value(plug, fields).map { edge.trigger(plug: $0) }
        },
        Variant(
            Key("active energy", Shape.mapping(energy), "The active energy of a period exceeds a value."),
            needs: [plug.needed]
        ) {
            reader, fields, threshold in reader.value(plug, fields).map { .activeEnergy(plug: $0, threshold) }
        },
        Variant(Key("button", Words.presses, "The button of the plug was pressed."), needs: [plug.needed]) {
            reader, fields, press in reader.value(plug, fields).map { .button(plug: $0, press) }
        },
        Variant(Key("relay", Words.relayChanges, "The relay was switched, by any cause."), needs: [plug.needed]) {
            reader, fields, change in reader.value(plug, fields).map { .relay(plug: $0, on: change.on) }
        },
        Variant(
            Key("connection", Words.connectionChanges, "The plug became unreachable, or reachable again."),
            needs: [plug.needed], takes: [dwell.optional]
        ) { reader, fields, isBack in
            let dwell = reader.value(dwell, fields) ?? .zero
            return reader.value(plug, fields).map {
                isBack ? .back(plug: $0, dwell: dwell) : .lost(plug: $0, dwell: dwell)
            }
        },
        Variant(
            Key("protection", Words.protections, "The plug turned itself off to protect itself or its load."),
            needs: [plug.needed]
        ) { reader, fields, which in reader.value(plug, fields).map { .protection(plug: $0, which.protection) } },
        Variant(
            Key("appliance", Words.applianceChanges, "A cycle of the connected appliance, detected from its power."),
            needs: [plug.needed],
            takes: [Key("cycle", Words.cycles, "Only cycles of this kind. Default: any kind.").optional]
        ) { reader, fields, change in
            let kind = reader.value(Key("cycle", Words.cycles, ""), fields)
            return reader.value(plug, fields).map { .appliance(plug: $0, change(kind)) }
        },
    ]

    private static let offset: Key<Duration> = Key(
        "offset", Shape.quantity(Times.sunOffset), "The offset after sunrise or sunset; negative values are before it.")

    private static let ofTheClock: [Variant<Trigger>] = [
        Variant(
            Key("time", Shape.quantity(Times.timeOfDay), "Every day at this local time."),
            takes: [weekdays.optional]
        ) { reader, fields, time in .schedule(.daily(time, on: reader.value(weekdays, fields) ?? .all)) },
        Variant(Key("cron", Shape.quantity(CronReader.kind), "Each minute that matches, as in crontab(5).")) {
            _, _, cron in .schedule(.cron(cron))
        },
        Variant(
            Key("sun", Words.sunEvents, "Every day at sunrise or sunset at the location of the house."),
            takes: [offset.optional, weekdays.optional]
        ) { reader, fields, event in
            let offset = reader.value(offset, fields) ?? .zero
            return .schedule(.sun(event, offset: offset, on: reader.value(weekdays, fields) ?? .all))
        },
    ]

    // MARK: - Active power and energy

    enum PowerEdge: Sendable {
        case crossing(PowerThreshold)
        case stay(PowerBand)

        func trigger(plug: String) -> Trigger {
            switch self {
            case .crossing(let threshold): .activePower(plug: plug, threshold)
            case .stay(let band): .activePowerStays(plug: plug, band)
            }
        }
    }

    private static let hysteresis: Key<Double> = Key(
        "hysteresis", Shape.quantity(Quantities.hysteresis),
        "The watts by which the power must return past the threshold before the rule can fire again. "
            + "Default: 5 % of the threshold, but at least 0.5 W and at most half of the threshold."
    )
    private static let beside = [dwell.optional, hysteresis.optional]

    private static let power: Mapping<PowerEdge> = Mapping(
        "powerEdge", "'active power'", "The change of the active power that fires the rule.",
        example: "{ rises above: 40 W, for: 3 s }",
        conflictHint: "make 'when' a list of two triggers: either fires the rule",
        oneOf: [
            Variant(
                Key(
                    "rises above", Shape.quantity(Quantities.watts),
                    "The active power was at most this and is now higher."), takes: beside
            ) {
                threshold(&$0, $1, .risesAbove, $2)
            },
            Variant(
                Key(
                    "falls below", Shape.quantity(Quantities.watts),
                    "The active power was at least this and is now lower."), takes: beside
            ) {
                threshold(&$0, $1, .fallsBelow, $2)
            },
            Variant(
                Key(
                    "stays between", Shape.quantity(Quantities.watts).list(of: "powers", 2...2),
                    "The active power came from outside into this range and stayed there."), takes: beside, build: band),
        ])

    private static func threshold(
        _ reader: inout RuleReader, _ fields: Fields, _ direction: PowerThreshold.Direction, _ watts: Double
    ) -> PowerEdge? {
        .crossing(
            PowerThreshold(
                direction, watts: watts, dwell: reader.value(dwell, fields) ?? .zero,
                hysteresis: reader.value(hysteresis, fields)))
    }

    @Sendable private static func band(_ reader: inout RuleReader, _ fields: Fields, _ ends: [Double]) -> PowerEdge? {
        // The mistakes in the ends have been reported.
        guard ends.count == 2 else { return nil }
        guard ends[0] < ends[1] else {
            reader.report(
                fields.entries["stays between"]?.value.place ?? fields.place, "the first power is not below the second",
                hint: "write the lower value first: [5 W, 40 W]")
            return nil
        }
        return .stay(
            PowerBand(
                ends[0], ends[1], dwell: reader.value(dwell, fields) ?? .zero,
                hysteresis: reader.value(hysteresis, fields)))
    }

    private static let exceeds = Key(
        "exceeds", Shape.quantity(Quantities.wattHours), "More active energy than this.")
    private static let since = Key("since", Words.periods, "The period. The rule fires once per period.")

    private static let energy: Mapping<EnergyThreshold> = Mapping(
        "energyEdge", "'active energy'", "The active energy of a period.",
        example: "{ exceeds: 2 kWh, since: day }", keys: [exceeds.needed, since.needed]
    ) { reader, fields in
        guard let wattHours = reader.value(exceeds, fields), let period = reader.value(since, fields) else {
            return nil
        }
        return EnergyThreshold(wattHours, since: period)
    }
}
