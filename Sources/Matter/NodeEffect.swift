import MatterSessions

/// An action that a node requests from its device. Effects are performed in order.
enum NodeEffect: Hashable, Sendable {
    /// Asks the plug to perform a command. The answer goes to ``MatterNode/answered(_:_:)`` with the same number.
    ///
    /// - from: the fabric and the node that sent the command, such as `1/000000000001B669`.
    case ask(UInt64, NodeCommand, from: String?)
    /// Stores the records before the requests that caused the change are answered.
    case store(MatterRecords)
    /// ``MatterNode/announcements`` changed.
    case announce
    /// Ends all operational sessions of a fabric (nil: of all fabrics), except one, which still carries a reply.
    case endSessions(fabric: UInt8?, except: SessionID?)
    /// Ends all commissioning sessions after pending replies are sent.
    case endCommissioningSessions
    /// Writes a message to the log.
    case notice(MatterNotice)
}

/// The reason why the device started (Matter 11.12.4.4). The raw value is the code in the event BootReason.
public enum MatterStartReason: UInt8, Hashable, Sendable {
    /// The reason is not known.
    case unspecified = 0
    /// The plug's power returned. Only this reason applies the start-up attributes of On/Off and Level Control.
    case powerOn = 1
    /// A new firmware was installed.
    case softwareUpdate = 5
    /// Only the process restarted.
    case softwareReset = 6
}
