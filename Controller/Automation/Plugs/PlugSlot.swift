/// The engine's state of one plug that triggers need: the last reading, the energy counter, and the triggers that watch
/// the plug. Each of these triggers is identified by its place in the engine's list of triggers of its kind.
struct PlugSlot: Sendable {
    /// The first property, so that a reading accesses neighbouring cache lines.
    var meter = PlugMeter()
    /// The places of the power triggers, ascending.
    private(set) var power: [Int] = []
    /// The places of the event triggers, ascending.
    private(set) var events: [Int] = []
    /// The places of the energy triggers, ascending.
    private(set) var energies: [Int] = []
    /// The place of the plug's appliance in the engine's list of watched appliances; nil if no rule watches it.
    private(set) var appliance: Int?
    var counter = EnergyPeriods()

    mutating func bind(power place: Int) { power.append(place) }
    mutating func bind(event place: Int) { events.append(place) }
    mutating func bind(energy place: Int) { energies.append(place) }
    /// Binds an appliance, unless the plug has one already.
    mutating func bind(appliance place: Int) { if appliance == nil { appliance = place } }

    /// Removes all triggers, and the quiet range of the energy counter, which depends on them.
    mutating func unbind() {
        power.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        energies.removeAll(keepingCapacity: true)
        appliance = nil
        counter.closeQuiet()
    }
}
