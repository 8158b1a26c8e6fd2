/// The engine's state of one plug that its triggers need: the last reading, the energy counter, and the places of the
/// triggers that watch the plug.
struct PlugSlot: Sendable {
    /// The first property, so that a reading accesses neighbouring cache lines.
    var meter = PlugMeter()
    /// The places of the power triggers, ascending.
    var power: [Int] = []
    /// The places of the event triggers, ascending.
    var events: [Int] = []
    /// The places of the energy triggers, ascending.
    var energies: [Int] = []
    /// The place of the appliance that rules watch; nil if no rule watches one.
    var appliance: Int?
    var counter = EnergyCounter()

    /// Removes all triggers, and closes the quiet range of energies, which depends on them.
    mutating func unbind() {
        power.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        energies.removeAll(keepingCapacity: true)
        appliance = nil
        counter.quiet = nil
    }
}
