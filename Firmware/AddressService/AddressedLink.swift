public import DNSWire
public import MulticastDNS

/// A link of the plug to a network of Ethernet or Wi-Fi.
public struct AddressedLink: Hashable, Sendable {
    /// The kernel's index of the interface.
    public let interface: Int32
    /// The kernel's name of the interface.
    public let name: String
    /// The hardware address of the interface.
    public let hardware: MACAddress
    /// The reason why the plug does not manage the interface's addresses; nil if it manages them.
    public let refusal: String?
    /// True if the process may receive and send whole frames (CAP_NET_RAW).
    public let hasRawPackets: Bool
    /// The usable addresses of the plug on the link.
    public let addresses: [InterfaceAddress]
    /// The addresses of routers, DHCP server and name servers that the plug uses on the link.
    public let infrastructure: Set<IPAddress>
}
