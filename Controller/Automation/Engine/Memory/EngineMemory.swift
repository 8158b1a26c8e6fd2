public import PlugModel
public import ProtocolCore

/// What a ``RuleEngine`` must still know in the next process, so that a dwell, a wait or a counter goes on there. Times are on the
/// controller's clock, but for those of dwells, which are on the plug's.
public struct EngineMemory: Hashable, Sendable {
    /// A trigger whose dwell has begun. Triggers are known by their words: one that was rewritten is another one.
    public struct Dwell: Hashable, Sendable {
        public var rule: String
        public var trigger: String
        /// The plug's id, or its name where it has none.
        public var plug: String
        public var boot: BootID?
        /// On the plug's clock.
        public var since: Instant
        public var latest: Instant
        /// Watts.
        public var value: Double
    }

    /// A firing whose actions are not done.
    public struct Run: Hashable, Sendable {
        public var firing: Firing
        /// A fingerprint of the rule's actions: of a rule with others nothing goes on.
        public var actions: String
        /// The next of them.
        public var next: Int
        /// Nil: it waits for its turn in the queue.
        public var until: Instant?
    }

    /// A plug as it was before a rule changed it.
    public struct Before: Hashable, Sendable {
        public var plug: String
        public var rule: String
        /// Whose commands changed it; from it follow their ids.
        public var firing: RequestID
        public var on: Bool
        public var level: DimLevel?
    }

    /// From where the energy of a period counts.
    public struct EnergyMark: Hashable, Sendable {
        public var plug: String
        public var period: EnergyThreshold.Period
        /// Its number on the local calendar; of ``EnergyThreshold/Period/on`` zero.
        public var number: Int64
        public var milliwattHours: UInt64
        /// Triggers that have fired in it, as ``EngineMemory/key(rule:trigger:)`` names them.
        public var fired: Set<String>
        /// Triggers that have been judged, named so too: for others what is exceeded already is no edge.
        public var known: Set<String>
    }

    /// The last occurrence of a schedule that was judged, which a clock that was set a little does not bring back.
    public struct Occurrence: Hashable, Sendable {
        public var rule: String
        public var trigger: String
        /// Of the sun the day, else the second, on the local calendar.
        public var number: Int64
    }

    /// When the rules fired last, by name, while that still matters for cooldown or limit.
    public var fired: [String: [Instant]] = [:]
    public var dwells: [Dwell] = []
    public var runs: [Run] = []
    public var befores: [Before] = []
    public var energies: [EnergyMark] = []
    public var occurrences: [Occurrence] = []
    /// Rules that a person turned off.
    public var disabled: Set<String> = []
    /// Up to here every schedule was judged; nil: never.
    public var judgedUntil: Instant?

    public init() {}

    /// A line break is part of no name.
    static func key(rule: String, trigger: Trigger) -> String { "\(rule)\n\(trigger)" }
}
