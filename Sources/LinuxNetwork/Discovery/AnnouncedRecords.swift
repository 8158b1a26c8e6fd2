public import DNSWire
public import MulticastDNS
import ServiceDiscovery

/// The announced records, which a sleep proxy gets while this host sleeps. All functions run on the event loop.
extension Discovery {
    /// Returns the records that this host announces on the interface, the addresses first. A name that is not claimed
    /// yet has no records.
    public func announcedRecords(on interface: InterfaceID) -> [Record] { node.announcedRecords(on: interface) }

    /// Sends messages to the multicast DNS groups of the interface. Without a link they are lost.
    public func multicast(_ messages: [[UInt8]], on interface: InterfaceID) {
        guard !isStopped, let families = links[interface]?.network.families else { return }
        for family in IPFamily.allCases where families.contains(family) {
            for bytes in messages {
                _ = send(OutboundDatagram(bytes: bytes, interface: interface, destination: .multicast(family)))
            }
        }
    }
}
