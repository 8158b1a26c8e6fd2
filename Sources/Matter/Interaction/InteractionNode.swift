public import MatterSessions
public import MatterWire
public import ProtocolCore

/// The path of an attribute, a command or an event without wildcards.
public struct ConcretePath: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The endpoint number.
    public var endpoint: UInt16
    /// The cluster id.
    public var cluster: UInt32
    /// The id of the attribute, command or event.
    public var member: UInt32

    /// Creates a path from endpoint, cluster, and attribute, command or event.
    public init(_ endpoint: UInt16, _ cluster: UInt32, _ member: UInt32) {
        (self.endpoint, self.cluster, self.member) = (endpoint, cluster, member)
    }

    public var description: String {
        "\(endpoint)/0x\(String(cluster, radix: 16, uppercase: true))/0x\(String(member, radix: 16, uppercase: true))"
    }

    public static func < (left: ConcretePath, right: ConcretePath) -> Bool {
        (left.endpoint, left.cluster, left.member) < (right.endpoint, right.cluster, right.member)
    }
}

/// A node's answer to a command.
public enum CommandReply: Hashable, Sendable {
    /// A response command with its fields.
    case response(UInt32, TLVValue)
    /// A status, for commands without a response command and for errors.
    case status(InteractionStatus)
    /// The answer follows later. The number identifies it.
    case pending(UInt64)
}

/// An event in a node's log.
public struct NodeEvent: Hashable, Sendable {
    /// The path of the event.
    public var path: ConcretePath
    /// The event number, which increases with each event of the node.
    public var number: UInt64
    /// The priority: 0 debug, 1 info, 2 critical.
    public var priority: UInt8
    /// The time of the event since the boot.
    public var time: Duration
    /// The fields of the event.
    public var value: TLVValue
    /// The fabric of a fabric-sensitive event: only this fabric may read it. Nil for all other events.
    public var fabric: UInt8?

    /// Creates an event.
    public init(
        path: ConcretePath, number: UInt64, priority: UInt8, time: Duration, value: TLVValue, fabric: UInt8? = nil
    ) {
        (self.path, self.number, self.priority) = (path, number, priority)
        (self.time, self.value, self.fabric) = (time, value, fabric)
    }
}

/// The requirements of the interaction server on a node.
///
/// The server checks that the path exists, the accessor's privilege, timed interactions and the accessing fabric
/// before it calls ``read(_:for:isFabricFiltered:now:)``, ``write(_:_:appends:for:now:)`` or ``invoke(_:_:for:now:)``.
public protocol InteractionNode: Sendable {
    /// The endpoint numbers, ascending.
    var endpoints: [UInt16] { get }
    /// Returns the endpoints that belong to the sender's group.
    func endpoints(in group: GroupSender) -> [UInt16]
    /// Returns the clusters of the endpoint, ascending.
    func clusters(on endpoint: UInt16) -> [UInt32]
    /// Returns the definition of a cluster, or nil if the endpoint does not have the cluster.
    func definition(of cluster: UInt32, on endpoint: UInt16) -> ClusterDefinition?
    /// Returns the data version of a cluster, which changes whenever one of its attributes changes.
    func dataVersion(of cluster: UInt32, on endpoint: UInt16) -> UInt32
    /// Reads an attribute.
    ///
    /// - Parameter isFabricFiltered: if true, a fabric-scoped list contains only the items of the accessing fabric.
    func read(
        _ path: ConcretePath, for accessor: Accessor, isFabricFiltered: Bool, now: Instant
    ) throws(InteractionStatus) -> TLVValue
    /// Writes an attribute.
    ///
    /// - Parameter appends: if true, the value is one item that is appended to the list.
    mutating func write(
        _ path: ConcretePath, _ value: TLVValue, appends: Bool, for accessor: Accessor, now: Instant
    ) throws(InteractionStatus)
    /// Performs a command.
    mutating func invoke(_ path: ConcretePath, _ fields: TLVValue, for accessor: Accessor, now: Instant) -> CommandReply
    /// Returns the highest privilege of the accessor for a cluster, or nil if it has none.
    func privileges(of accessor: Accessor, on endpoint: UInt16, cluster: UInt32) -> Privilege?
    /// Returns the events with numbers greater than `number` (nil: all that are stored), ascending, at most the newest
    /// 64.
    func events(after number: UInt64?) -> [NodeEvent]
    /// Returns the attributes that changed since the previous call.
    mutating func takeChanges() -> Set<ConcretePath>
}
