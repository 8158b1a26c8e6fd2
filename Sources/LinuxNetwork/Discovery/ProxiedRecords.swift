public import DNSWire
public import MulticastDNS
import ServiceDiscovery

/// A report for a sleep proxy.
public enum ProxyReport: Sendable {
    /// A message of another host, or a multicast message of this host that it also received itself.
    case heard(InboundMessage)
    /// Another host has the name of the group. The proxy withdraws the group.
    case conflicted(GroupID)
}

/// The records that a sleep proxy publishes on behalf of sleeping hosts. All functions run on the event loop.
extension Discovery {
    /// Calls `report` for each message and conflict. Messages are reported only if the discovery was created with
    /// `servesProxy`.
    public func tellProxy(_ report: @escaping @Sendable (ProxyReport) -> Void) { reportToProxy = report }

    /// The names of all registered services and their hosts.
    public var registeredNames: Set<Name> { node.registeredNames }

    /// Publishes a group of a sleeping host, or changes it. Ids start with `DiscoveryNode.firstProxyGroup`.
    ///
    /// - Parameter isVerified: true if the sleeping host has claimed the name, so that no probe is needed.
    public func publish(_ id: GroupID, _ group: RecordGroup, isVerified: Bool) {
        handle(.publish(id, group, isVerified: isVerified))
    }

    /// Withdraws a group. Without a goodbye, other hosts keep its records; use this if the host to which the records
    /// belong announces them again.
    public func withdraw(_ id: GroupID, goodbye: Bool) { handle(.withdraw(id, goodbye: goodbye)) }
}
