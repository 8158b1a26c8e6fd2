/// What a person can set a simulated appliance to, beside pulling its plug.
public enum LoadMode: String, Hashable, Sendable, CaseIterable {
    case on, standby, off
}

/// What an appliance draws.
struct Draw: Hashable, Sendable {
    var watts: Double
    /// Active to apparent power, above 0 to 1.
    var powerFactor: Double

    static let nothing = Draw(watts: 0, powerFactor: 1)
}

/// The moment for which a model is asked. Times are in seconds of the model, which may run faster than life. The relay is
/// on: a model is never asked what it draws without power.
struct LoadMoment {
    var mode: LoadMode
    /// Since it was plugged in, power or not.
    var time: Double
    /// Since the mode was set or power came, whichever was later: the beginning of its inrush.
    var sinceSwitched: Double
    /// How long it has had power in this mode altogether: how far its program is.
    var operated: Double
    /// How much of full power the dimmer lets through, 0 to 1.
    var level: Double
    var volts: Double
    var noise: Noise

    /// A current that leaps on switching and dies away: 1 at the beginning, 1/e after `time` seconds.
    func inrush(_ time: Double) -> Double { decay(sinceSwitched, time) }
}

/// An appliance as a pure function of the moment.
protocol ApplianceModel: Sendable {
    /// The modes that it has, the one it starts in first.
    var modes: [LoadMode] { get }
    func draw(_ moment: LoadMoment) -> Draw
}

/// exp(-elapsed / time), to five digits and with plain arithmetic, since this module needs no mathematics library else.
func decay(_ elapsed: Double, _ time: Double) -> Double {
    guard elapsed < 12 * time else { return 0 }
    var factor = 1 - elapsed / time / 4096
    for _ in 0..<12 { factor *= factor }
    return max(0, factor)
}

/// The appliances that come with the plug's simulation.
public enum SimulatedAppliance: String, Hashable, Sendable, CaseIterable {
    case television, amplifier, refrigerator
    case washingMachine = "washing-machine"
    case kettle, lamp, laptop

    var model: any ApplianceModel {
        switch self {
        case .television: Television()
        case .amplifier: Amplifier()
        case .refrigerator: Refrigerator()
        case .washingMachine: WashingMachine()
        case .kettle: Kettle()
        case .lamp: Lamp()
        case .laptop: Laptop()
        }
    }

    /// The modes that it has, the one it starts in first.
    public var modes: [LoadMode] { model.modes }
}
