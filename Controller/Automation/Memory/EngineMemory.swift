public import ApplianceSense
public import PlugModel
public import ProtocolCore
public import RuleModel

/// The state of a ``RuleEngine`` that the next process needs to continue dwells, waits and counters. Times are on the
/// controller's clock, except those of dwells, which are on the plug's clock.
public struct EngineMemory: Hashable, Sendable {
    /// A dwell in progress, or an interrupted dwell that may continue. Its trigger is identified by its description, so
    /// a rewritten trigger is a new one.
    public struct Dwell: Hashable, Sendable {
        /// The rule's name.
        public var rule: String
        /// The trigger's description.
        public var trigger: String
        /// The plug's id, or its name if it has no id.
        public var plug: String
        /// The boot to which the times belong. Nil if unknown; the dwell is then not restored.
        public var boot: BootID?
        /// The start of the dwell on the plug's clock.
        public var since: Instant
        /// The time of the last reading on the plug's clock.
        public var latest: Instant
        /// The power of the last reading in watts.
        public var value: Double

        package init(
            rule: String, trigger: String, plug: String, boot: BootID?, since: Instant, latest: Instant, value: Double
        ) {
            self.rule = rule
            self.trigger = trigger
            self.plug = plug
            self.boot = boot
            self.since = since
            self.latest = latest
            self.value = value
        }
    }

    /// A firing whose actions are not finished.
    public struct Run: Hashable, Sendable {
        /// The firing. If it was read from a stored memory, its cause is in words.
        public var firing: Firing
        /// A hash of the rule's actions. The run ends if the rule now has different actions.
        public var actions: String
        /// The place of the waiting action; zero if the run waits in the queue.
        public var next: Int
        /// The end of the wait; nil if the run waits in the queue.
        public var until: Instant?

        package init(firing: Firing, actions: String, next: Int, until: Instant?) {
            self.firing = firing
            self.actions = actions
            self.next = next
            self.until = until
        }
    }

    /// The state of a plug before a rule changed it.
    public struct Before: Hashable, Sendable {
        /// The plug's id, or its name if it has no id.
        public var plug: String
        /// The name of the rule that changed the plug.
        public var rule: String
        /// The id from which the ids of the commands that changed the plug are derived.
        public var firing: RequestID
        /// The state of the relay before the change.
        public var on: Bool
        /// The level before the change; nil for a plug without a dimmer.
        public var level: DimLevel?

        package init(plug: String, rule: String, firing: RequestID, on: Bool, level: DimLevel?) {
            self.plug = plug
            self.rule = rule
            self.firing = firing
            self.on = on
            self.level = level
        }
    }

    /// The start of an energy period.
    public struct EnergyMark: Hashable, Sendable {
        /// The plug's id, or its name if it has no id.
        public var plug: String
        /// The kind of the period.
        public var period: EnergyThreshold.Period
        /// The period's number in the local calendar; zero for ``EnergyThreshold/Period/on``.
        public var number: Int64
        /// The plug's counter at the start of the period.
        public var milliwattHours: UInt64
        /// The triggers that have fired in the period, by ``EngineMemory/key(rule:trigger:)``.
        public var fired: Set<String>
        /// The triggers that were evaluated, by the same key. Any other trigger does not fire if its limit is already
        /// exceeded at its first evaluation.
        public var known: Set<String>

        package init(
            plug: String, period: EnergyThreshold.Period, number: Int64, milliwattHours: UInt64, fired: Set<String>,
            known: Set<String>
        ) {
            self.plug = plug
            self.period = period
            self.number = number
            self.milliwattHours = milliwattHours
            self.fired = fired
            self.known = known
        }
    }

    /// The last evaluated occurrence of a schedule. The occurrence is not evaluated again if the clock is set back by
    /// at most ``RuleEngine/longestSetBack``.
    public struct Occurrence: Hashable, Sendable {
        /// The rule's name.
        public var rule: String
        /// The trigger's description.
        public var trigger: String
        /// The day of a sun schedule, or the second of any other schedule, since 1970-01-01 in the local calendar.
        public var number: Int64

        package init(rule: String, trigger: String, number: Int64) {
            self.rule = rule
            self.trigger = trigger
            self.number = number
        }
    }

    /// The learned facts about the appliance on a plug that rules watch.
    public struct Appliance: Hashable, Sendable {
        /// The plug's name as the rules write it.
        public var plug: String
        /// The facts.
        public var profile: ApplianceProfile

        package init(plug: String, profile: ApplianceProfile) {
            self.plug = plug
            self.profile = profile
        }
    }

    /// The times of the last firings that a cooldown or a rate limit needs, by the name of the rule.
    public var fired: [String: [Instant]] = [:]
    /// The dwells in progress, and interrupted ones that may continue.
    public var dwells: [Dwell] = []
    /// The unfinished firings, in the order of their start.
    public var runs: [Run] = []
    /// The states of plugs before rules changed them, at most one per plug.
    public var savedStates: [Before] = []
    /// The starts of the energy periods, at most one per plug and kind of period.
    public var energies: [EnergyMark] = []
    /// The last evaluated occurrences, at most one per schedule.
    public var occurrences: [Occurrence] = []
    /// The names of the rules that the user disabled.
    public var disabled: Set<String> = []
    /// The learned facts about watched appliances, at most one per name of a plug.
    public var appliances: [Appliance] = []
    /// The time up to which every schedule was evaluated; nil if the local time was never known.
    public var judgedUntil: Instant?

    /// Creates the memory of an engine without history.
    public init() {}

    /// Returns the key of a trigger. Rule names contain no line breaks, so different triggers have different keys.
    static func key(rule: String, trigger: Trigger) -> String { "\(rule)\n\(trigger)" }
}
