import MatterWire
import ProtocolCore

/// The behaviour of a cluster on an endpoint. The node checks paths and data types with the table and answers global
/// attributes before it calls a server.
protocol ClusterServer: Sendable {
    /// Reads an attribute. Throws `unsupportedAttribute` if the server does not have it.
    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue
    /// Writes an attribute whose value has the type of the table.
    ///
    /// - Parameter appends: if true, the value is one item that is appended to the list.
    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus)
    /// Performs a command. An error is the command's status.
    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply
    /// Handles new values of the plug, which are already in the state.
    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState)
    /// Performs what is due.
    mutating func expire(now: Instant, _ state: inout NodeState)
    /// The time of the next call of ``expire(now:_:)``.
    func nextDeadline(_ state: NodeState) -> Instant?
}

extension ClusterServer {
    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        throw InteractionStatus(.unsupportedAttribute)
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        throw InteractionStatus(.unsupportedWrite)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        throw InteractionStatus(.unsupportedCommand)
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {}

    mutating func expire(now: Instant, _ state: inout NodeState) {}

    func nextDeadline(_ state: NodeState) -> Instant? { nil }
}

/// Returns the element of an enumeration of ids, or throws the status for an unknown one.
func known<ID: RawRepresentable<UInt32>>(
    _ id: UInt32, _ type: ID.Type, or code: InteractionStatusCode
) throws(InteractionStatus) -> ID {
    guard let known = ID(rawValue: id) else { throw InteractionStatus(code) }
    return known
}
