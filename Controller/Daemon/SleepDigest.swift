import LinuxSystem
public import PlugClient
public import ProtocolCore
public import RuleModel
import Synchronization

/// Counts the events of plugs that happened while this machine slept.
public final class SleepDigest: HouseObserver {
    /// The limit of remembered events. If more happened during one sleep, the oldest ones are not counted.
    static let limit = 1024

    private let recent = Mutex<[(plug: String, at: Instant)]>([])

    /// Creates a digest without events.
    public init() {}

    /// Remembers the time of an event. The time of an event from an earlier boot of its plug is unknown, so such an
    /// event is not counted.
    public func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, case .event(_, let age?) = report.update else { return }
        note(report.plug, at: BootClock.now - age)
    }

    func note(_ plug: String, at time: Instant) {
        recent.withLock { recent in
            if recent.count == Self.limit { recent.removeFirst(Self.limit / 2) }
            recent.append((plug, time))
        }
    }

    /// Ignores the records of rules.
    public func note(_ record: RunnerRecord) {}
    /// Ignores the rules.
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}

    /// Describes how many events of how many plugs happened in a time range, for example `3 events of 2 plugs happened
    /// meanwhile`.
    public func words(from start: Instant, to end: Instant) -> String {
        let events = recent.withLock(\.self).filter { $0.at >= start && $0.at < end }
        let plugs = Set(events.map(\.plug)).count
        guard !events.isEmpty else { return "no events happened meanwhile" }
        return
            "\(events.count) event\(events.count == 1 ? "" : "s") of \(plugs) plug\(plugs == 1 ? "" : "s") happened meanwhile"
    }
}
