/// What was recorded of a plug's being switched, beside what a rule would have commanded at that time.
public struct RecordedSwitching: Hashable, Sendable {
    public enum Source: String, Hashable, Sendable {
        /// The plug's journal says so.
        case journal
        /// Its power crossed the level between what it takes when it is off and when it is on.
        case power
        /// One of the rules itself commanded it then.
        case rule
    }

    /// When the plug was really switched the same way, nearest to the command: milliseconds since 1970; nil where it was not within
    /// ``reach``.
    public var at: Int64?
    /// It was so already, and nobody switched it.
    public var wasSo = false
    public var source: Source

    /// Ten minutes before and after the command, in milliseconds.
    public static let reach: Int64 = 600_000
}

/// Where in a report a command stands.
struct CommandPlace: Hashable, Sendable {
    var firing: Int
    var step: Int
}

/// Finds for each command the nearest time at which the plug was really switched so, while time goes on.
struct Switchings: Sendable {
    let source: RecordedSwitching.Source
    /// Whether the plug was really on; nil: nobody knows.
    private(set) var isOn: Bool?
    private var recent: [(at: Int64, on: Bool, source: RecordedSwitching.Source)] = []
    private var pending: [(place: CommandPlace, at: Int64, on: Bool, best: Int64?)] = []

    /// More switchings, or commands, within ten minutes are those of a rule or a level in the noise.
    private static let limit = 1000

    init(_ source: RecordedSwitching.Source, isOn: Bool?) {
        (self.source, self.isOn) = (source, isOn)
    }

    /// - Returns: what is known so far.
    mutating func command(_ on: Bool, at: Int64, _ place: CommandPlace) -> RecordedSwitching {
        prune(at)
        let best = recent.last { $0.on == on }
        if pending.count < Self.limit { pending.append((place, at, on, best?.at)) }
        return RecordedSwitching(
            at: best?.at, wasSo: isOn == on && best == nil, source: best?.source ?? source)
    }

    /// The plug was really switched.
    /// - Returns: the commands of which more is known now.
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

    /// So it stood when it was heard of again; nobody knows since when.
    mutating func stood(_ on: Bool) { isOn = on }

    private mutating func prune(_ now: Int64) {
        recent.removeAll { now - $0.at > RecordedSwitching.reach }
        pending.removeAll { now - $0.at > RecordedSwitching.reach }
    }
}
