public import HostSleep
import ProtocolCore
public import SleepClient

/// A machine that the daemon can wake. The password of its magic packet is never part of a record.
public struct MachineRecord: Codable, Hashable, Sendable {
    /// The machine's name.
    public var machine: String
    /// The address of its network card, such as 00:11:22:33:44:55.
    public var mac: String
    /// Its known IP addresses.
    public var addresses: [String]
    /// True if the machine is known from the sleep proxy of a plug, false if it is in the daemon's machines.toml.
    public var learned: Bool

    /// Creates the record of a machine.
    public init(_ machine: KnownMachine) {
        self.machine = machine.name
        mac = "\(machine.card)"
        addresses = machine.addresses.map { "\($0)" }
        learned = machine.isLearned
    }
}

/// The result of waking a machine.
public struct WakeRecord: Encodable, Hashable, Sendable {
    /// The machine's name.
    public var machine: String
    /// awake or asleep.
    public var outcome: String
    /// The time until the machine answered, in seconds; nil if it did not wake.
    public var seconds: Double?

    /// Creates the record of a result.
    public init(_ machine: String, _ outcome: WakeOutcome) {
        self.machine = machine
        switch outcome {
        case .awake(let time): (self.outcome, seconds) = ("awake", time.inSeconds)
        case .didNotWake: self.outcome = "asleep"
        }
    }
}
