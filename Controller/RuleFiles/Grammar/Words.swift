import ApplianceSense
import PlugModel
import RuleModel

/// The sets of words: the spelling of each, its value, and its meaning for users.
enum Words {
    static let onOff = Shape.words([("on", true, "It is on."), ("off", false, "It is off.")])

    static let presses = Shape<ButtonPress>.words([
        ("pressed", .single, "Pressed once, briefly."), ("single", .single, "Pressed once, briefly."),
        ("double", .double, "Pressed twice in a row."), ("long", .long, "Held."),
    ])

    /// A change of the relay; nil for either direction.
    struct RelayChange: Sendable {
        var on: Bool?
    }

    static let relayChanges = Shape.words([
        ("on", RelayChange(on: true), "It was turned on."), ("off", RelayChange(on: false), "It was turned off."),
        ("changed", RelayChange(on: nil), "It was turned on or off."),
    ])

    /// The value is true for `back`.
    static let connectionChanges = Shape.words([
        ("lost", false, "The plug became unreachable."), ("back", true, "The plug is reachable again."),
    ])

    static let connections = Shape.words([
        ("present", true, "The plug is reachable."), ("away", false, "The plug is not reachable."),
    ])

    /// A protection that tripped; nil for any.
    struct Tripped: Sendable {
        var protection: Protection?
    }

    static let protections = Shape.words(
        [("tripped", Tripped(protection: nil), "Any protection.")]
            + Protection.allCases.map { ($0.rawValue, Tripped(protection: $0), meaning($0)) })

    private static func meaning(_ protection: Protection) -> String {
        switch protection {
        case .overPower: "The power exceeds the limit."
        case .overCurrent: "The current exceeds the limit."
        case .overVoltage: "The mains voltage is too high."
        case .underVoltage: "The mains voltage is too low."
        case .overTemperature: "The plug is too hot inside."
        case .weldedRelay: "Current flows although the relay is open."
        case .restTime: "The appliance has not rested long enough."
        case .switchingRate: "The relay was switched too often."
        }
    }

    /// The value makes the trigger for a kind of cycle, or for any kind if that is nil.
    static let applianceChanges = Shape<@Sendable (ApplianceCycle.Kind?) -> ApplianceTrigger>.words([
        ("started", { .started($0) }, "A cycle began."),
        ("finished", { .finished($0) }, "A cycle has certainly ended."),
        (
            "probably finished", { .probablyFinished($0) },
            "A cycle has probably ended. It may continue; the rule then fires again at its end."
        ),
    ])

    static let cycles = Shape<ApplianceCycle.Kind>.words([
        ("programme", .programme, "The programme of a washing machine, dishwasher or dryer."),
        ("compressor", .compressor, "One run of a refrigerator or of another appliance with a thermostat."),
        ("defrost", .defrost, "One run of a refrigerator's defrost heater."),
    ])

    static let sunEvents = Shape.words([
        ("sunrise", SunEvent.sunrise, "When the sun rises."), ("sunset", SunEvent.sunset, "When the sun sets."),
    ])

    static let periods = Shape<EnergyThreshold.Period>.words([
        ("hour", .hour, "Since the hour began."), ("day", .day, "Since midnight."),
        ("week", .week, "Since midnight on Monday."), ("month", .month, "Since midnight on the first of the month."),
        ("on", .on, "Since the relay was last turned on."),
    ])

    static let weekdays = Shape<Weekdays>.words(
        zip(Weekdays.names, ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]).enumerated()
            .flatMap { index, names in
                [names.0, names.1].map { ($0, Weekdays(rawValue: 1 << UInt8(index)), names.1) }
            }
    ).oneOrMore(of: "weekdays").map { Weekdays($0) }

    static let methods = Shape.words([
        ("POST", "POST", "Sends the body, or the event as JSON by default."),
        ("PUT", "PUT", "Sends the body as POST does, with the method PUT."),
        ("GET", "GET", "Requests the address without a body."),
    ])

    static let timeouts = Shape<RuleAction.Timeout>.words([
        ("stop", .stop, "The following actions are skipped."), ("go on", .goOn, "The following actions run anyway."),
    ])
}
