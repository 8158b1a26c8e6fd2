public import MatterSessions
public import MatterWire

/// A request of the simulated controller.
public enum MatterControllerRequest: Sendable {
    /// Commission the device by PASE with this passcode, and open an operational session by CASE.
    case commission(passcode: UInt32)
    /// Open a session with this passcode only (PASE).
    case connectWithPasscode(UInt32)
    /// Open an operational session (CASE).
    case connect
    case read(ReadRequest)
    /// `timeout`: the write is timed with this limit.
    case write([AttributeData], timeout: Duration? = nil)
    /// `timeout`: the invocation is timed with this limit.
    case invoke(CommandPath, TLVValue, timeout: Duration? = nil)
    case subscribe(SubscribeRequest)
}

/// Identifies a request of a controller.
public struct MatterTicket: Hashable, Sendable {
    let number: UInt64
}

/// The successful result of a request.
public enum MatterOutcome: Sendable {
    /// The device is commissioned; `fabric` is the index that it assigned.
    case commissioned(fabric: UInt8)
    case connected(SessionID)
    case read([AttributeReport], [EventReport])
    case written([AttributeStatus])
    case invoked([InvokeReply])
    case subscribed(id: UInt32, maxInterval: UInt16)
}
