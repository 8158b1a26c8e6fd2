import ApplianceSense
import Automation
import PlugModel

/// The sets of words: the spelling of each, its value, and its meaning for users.
enum Words {
    static let onOff = Shape.words([("on", true, "It is on."), ("off", false, "It is off.")])

    static let presses = Shape<ButtonPress>.words([
        ("pressed", .single, "Pressed once, shortly."), ("single", .single, "The same."),
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

    /// True for `back`.
    static let connectionChanges = Shape.words([
        ("lost", false, "It cannot be reached any more."), ("back", true, "It can be reached again."),
    ])

    static let connections = Shape.words([
        ("present", true, "It can be reached."), ("away", false, "It cannot be reached."),
    ])

    /// A protection that tripped; nil for any.
    struct Tripped: Sendable {
        var protection: Protection?
    }

    static let protections = Shape.words(
        [("tripped", Tripped(protection: nil), "Whichever of them.")]
            + Protection.allCases.map { ($0.rawValue, Tripped(protection: $0), meaning($0)) })

    private static func meaning(_ protection: Protection) -> String {
        switch protection {
        case .overPower: "More power than it may carry."
        case .overCurrent: "More current than it may carry."
        case .overVoltage: "The mains voltage is too high."
        case .underVoltage: "The mains voltage is too low."
        case .overTemperature: "The plug is too hot inside."
        case .weldedRelay: "Current flows although the relay is open."
        case .restTime: "What it feeds has not rested long enough."
        case .switchingRate: "It was asked to switch too often."
        }
    }

    /// True for `started`.
    static let applianceChanges = Shape.words([
        ("started", true, "A cycle began."), ("finished", false, "A cycle came to its end."),
    ])

    static let cycles = Shape<ApplianceCycle.Kind>.words([
        ("programme", .programme, "Of a washing machine, a dishwasher, a dryer."),
        ("compressor", .compressor, "One run of a refrigerator or another thermostat."),
        ("defrost", .defrost, "The heater of a refrigerator that melts the ice."),
    ])

    static let sunEvents = Shape.words([
        ("sunrise", SunEvent.sunrise, "When the sun comes up."), ("sunset", SunEvent.sunset, "When it goes down."),
    ])

    static let periods = Shape<EnergyThreshold.Period>.words([
        ("hour", .hour, "Since the full hour."), ("day", .day, "Since midnight."),
        ("week", .week, "Since Monday, midnight."), ("month", .month, "Since the first of the month, midnight."),
        ("on", .on, "Since the relay was turned on last."),
    ])

    static let weekdays = Shape<Weekdays>.words(
        zip(Weekdays.names, ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]).enumerated()
            .flatMap { index, names in
                [names.0, names.1].map { ($0, Weekdays(rawValue: 1 << UInt8(index)), names.1) }
            }
    ).oneOrMore(of: "weekdays").map { Weekdays($0) }

    static let methods = Shape.words([
        ("POST", "POST", "Sends the body, or else the event as JSON."),
        ("PUT", "PUT", "The same, to replace something."),
        ("GET", "GET", "Asks for the address and sends nothing."),
    ])

    static let timeouts = Shape<RuleAction.Timeout>.words([
        ("stop", .stop, "The actions that follow are left out."), ("go on", .goOn, "They are done all the same."),
    ])
}
