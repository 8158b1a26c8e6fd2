/// The modes of a simulated appliance that a user can select.
public enum LoadMode: String, Hashable, Sendable, CaseIterable {
    /// Operating, waiting, or switched off at the appliance.
    case on, standby, off
}

/// The power consumption of an appliance.
struct Draw: Hashable, Sendable {
    var watts: Double
    /// Active divided by apparent power, above 0 up to 1.
    var powerFactor: Double

    static let nothing = Draw(watts: 0, powerFactor: 1)
}

/// The moment at which a model is evaluated. Times are in seconds of the model, which may run faster than real time.
/// The relay is on: a model is never evaluated without power.
struct LoadMoment {
    var mode: LoadMode
    /// The time since the appliance was plugged in, with or without power.
    var time: Double
    /// The time since the mode was set or the power came on, whichever happened later. The inrush starts then.
    var sinceSwitched: Double
    /// The total time with power in this mode: the progress of the appliance's program.
    var operated: Double
    /// The dimmer's share of full power, 0 to 1.
    var level: Double
    var volts: Double
    var noise: Noise

    /// Returns the decaying share of an inrush current: 1 when the appliance is switched on, 1/e after `time` seconds.
    func inrush(_ time: Double) -> Double { decay(sinceSwitched, time) }
}

/// An appliance as a pure function of the moment.
protocol ApplianceModel: Sendable {
    /// The modes, with the initial one first.
    var modes: [LoadMode] { get }
    func draw(_ moment: LoadMoment) -> Draw
}

/// Returns exp(-elapsed / time) with an error below 0.0001 in plain arithmetic, since this module needs no mathematics
/// library otherwise.
func decay(_ elapsed: Double, _ time: Double) -> Double {
    guard elapsed < 12 * time else { return 0 }
    var factor = 1 - elapsed / time / 4096
    for _ in 0..<12 { factor *= factor }
    return max(0, factor)
}

/// The appliances of the plug's simulation.
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

    /// The modes, with the initial one first.
    public var modes: [LoadMode] { model.modes }
}
