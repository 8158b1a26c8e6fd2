/// The recorded switching of a plug that is nearest to a command of a rule.
public struct RecordedSwitching: Hashable, Sendable {
    /// The source of a recorded switching.
    public enum Source: String, Hashable, Sendable {
        /// The plug's journal.
        case journal
        /// The plug's power, which crossed the level between off and on.
        case power
        /// The journal, in which a command of one of the rules caused the switching.
        case rule
    }

    /// The time at which the plug was really switched to the same state, nearest to the command, in milliseconds since
    /// 1970. Nil if no such switching is recorded within ``reach``.
    public var at: Int64?
    /// True if the plug already had the state and was not switched.
    public var wasSo = false
    /// The source of this information.
    public var source: Source

    /// The greatest distance from the command: ten minutes in milliseconds.
    public static let reach: Int64 = 600_000
}

/// The place of a command in a report.
struct CommandPlace: Hashable, Sendable {
    var firing: Int
    var step: Int
}

/// Finds for each command the nearest time at which the plug was switched the same way in reality, as time advances.
struct Switchings: Sendable {
    let source: RecordedSwitching.Source
    /// True if the plug was on in reality; nil if unknown.
    private(set) var isOn: Bool?
    private var recent: [(at: Int64, on: Bool, source: RecordedSwitching.Source)] = []
    private var pending: [(place: CommandPlace, at: Int64, on: Bool, best: Int64?)] = []

    /// The maximum number of switchings, and of commands, that are stored for ``RecordedSwitching/reach``. Only a
    /// threshold within the noise causes more.
    private static let limit = 1000

    init(_ source: RecordedSwitching.Source, isOn: Bool?) {
        (self.source, self.isOn) = (source, isOn)
    }

    /// Adds a command.
    ///
    /// - Returns: The nearest switching so far. A later one may be nearer: see ``switched(_:at:byRule:)``.
    mutating func command(_ on: Bool, at: Int64, _ place: CommandPlace) -> RecordedSwitching {
        prune(at)
        let best = recent.last { $0.on == on }
        if pending.count < Self.limit { pending.append((place, at, on, best?.at)) }
        return RecordedSwitching(
            at: best?.at, wasSo: isOn == on && best == nil, source: best?.source ?? source)
    }

    /// Adds a switching in reality.
    ///
    /// - Returns: The commands to which this switching is nearer than the previously nearest one.
    mutating func switched(_ on: Bool, at: Int64, byRule: Bool) -> [(CommandPlace, RecordedSwitching)] {
        prune(at)
        isOn = on
        let source = byRule ? RecordedSwitching.Source.rule : source
        if recent.count < Self.limit { recent.append((at, on, source)) }
        var found: [(CommandPlace, RecordedSwitching)] = []
        for index in pending.indices where pending[index].on == on {
            let command = pending[index]
            if let best = command.best, abs(best - command.at) <= at - command.at { continue }
            pending[index].best = at
            found.append((command.place, RecordedSwitching(at: at, source: source)))
        }
        return found
    }

    /// Sets the state when the plug is present again. The time of the switching is unknown.
    mutating func stood(_ on: Bool) { isOn = on }

    private mutating func prune(_ now: Int64) {
        recent.removeAll { now - $0.at > RecordedSwitching.reach }
        pending.removeAll { now - $0.at > RecordedSwitching.reach }
    }
}
