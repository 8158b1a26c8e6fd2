/// The sender of a message to a group.
public struct GroupSender: Hashable, Sendable {
    /// The index of the fabric on this node, from 1 on.
    public var fabric: UInt8
    /// The node id that the sender names. All members of a group have the same key, so each member can name it.
    public var node: UInt64
    /// The group that the message is for.
    public var group: UInt16

    /// Creates a sender.
    public init(fabric: UInt8, node: UInt64, group: UInt16) {
        (self.fabric, self.node, self.group) = (fabric, node, group)
    }
}

/// A message of the interaction model to a group, decrypted, and checked for duplicates. It is never answered.
public struct GroupMessage: Hashable, Sendable {
    public var sender: GroupSender
    /// The opcode within the interaction model.
    public var opcode: UInt8
    /// The payload after the protocol header.
    public var payload: [UInt8]

    /// Creates a message.
    public init(sender: GroupSender, opcode: UInt8, payload: [UInt8]) {
        (self.sender, self.opcode, self.payload) = (sender, opcode, payload)
    }
}
