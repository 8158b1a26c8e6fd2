public import HouseCalendar
import LinuxSystem

extension ZoneOffsets {
    /// Returns the host's time zone between two times in seconds since 1970, UTC.
    public static func local(from: Int, to: Int) -> ZoneOffsets {
        let offsets = LocalOffsets(from: from, to: to)
        return ZoneOffsets(
            initial: offsets.initial,
            transitions: offsets.changes.map { Transition(time: Double($0.second), seconds: $0.offset) })
    }
}
