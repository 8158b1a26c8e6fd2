public import Automation
public import LinuxNetwork
public import PlugProtocol

/// What the running rules have to tell.
public struct RunnerRecord: Sendable {
    public enum Kind: Sendable {
        case following(plugs: Int, newest: String)
        case lost(plug: String)
        case gap(plug: String, from: SequenceNumber, to: SequenceNumber, reason: String)
        case firing(Firing)
        case heldBack(Firing, HoldBack)
        case notSent(Firing, plug: String, UnsentReason)
        case command(plug: String, CommandOutcome)
    }

    public var at: WallTime
    public var kind: Kind

    public init(at: WallTime, kind: Kind) {
        self.at = at
        self.kind = kind
    }
}
