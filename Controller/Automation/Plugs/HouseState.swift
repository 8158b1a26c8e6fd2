import HouseCalendar
import PlugModel
import ProtocolCore
import RuleModel

/// The engine's state of the house: the plugs, and the local calendar.
struct HouseState: Sendable {
    /// The plugs by name.
    var plugs = PlugTable()
    /// The readings, counters and triggers of the plugs, by the plug's index.
    private var slots: [PlugSlot] = []
    /// The local time; nil if unknown.
    private(set) var localTime: LocalTime?
    private(set) var sun = SunTimes.unknown

    /// The slot of a plug.
    subscript(index: Int) -> PlugSlot {
        _read { yield slots[index] }
        _modify { yield &slots[index] }
    }

    /// Adds or updates a plug. Returns its index, or nil if the table is full.
    mutating func appear(_ name: String, _ state: PlugState, boot: BootID?, id: PlugID?, gap: Duration) -> Int? {
        guard let index = plugs.appear(name, state, boot: boot, id: id) else { return nil }
        while slots.count < plugs.count { slots.append(PlugSlot()) }
        slots[index].meter.appear(gap: gap)
        return index
    }

    /// Removes the triggers of all plugs.
    mutating func unbind() { for index in slots.indices { slots[index].unbind() } }

    /// Sets the calendar. The quiet ranges of the energy counters depend on the calendar, so they are removed.
    mutating func setClock(_ time: LocalTime, _ sun: SunTimes) {
        for index in slots.indices { slots[index].counter.closeQuiet() }
        (localTime, self.sun) = (time, sun)
    }
}
