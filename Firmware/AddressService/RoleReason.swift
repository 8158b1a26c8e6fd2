/// Why the plug gives an interface its addresses, or leaves that to somebody else.
public enum RoleReason: Hashable, Sendable, CustomStringConvertible {
    /// `--addressing` says so.
    case asked
    /// Nobody else does it.
    case nobodyElse
    /// Packets on it never leave the host.
    case loopback
    /// ARP and DHCP are about Ethernet addresses.
    case notEthernet
    /// Another program has it; `evidence`: the file that tells.
    case manager(Manager, evidence: String)
    /// An address that somebody else gave it.
    case foreignAddress(String)
    /// A bridge, a tunnel, the end of a container's cable.
    case notHardware
    /// The process may not do it.
    case unprivileged(missing: [String])

    public enum Manager: String, Hashable, Sendable {
        case networkManager = "NetworkManager"
        case dhcpcd
        case networkd = "systemd-networkd"
        case connman
    }

    /// A sentence.
    public var description: String {
        switch self {
        case .asked: "it was asked for by --addressing"
        case .nobodyElse: "no other program gives it addresses"
        case .loopback: "it is the loopback interface"
        case .notEthernet: "it is no Ethernet or Wi-Fi interface"
        case .manager(let manager, let evidence): "\(manager.rawValue) manages it, as \(evidence) tells"
        case .foreignAddress(let address): "somebody else gave it the address \(address)"
        case .notHardware: "it is no real card; name it with --interface to have it managed"
        case .unprivileged(let missing): "plugd runs without \(missing.joined(separator: " and "))"
        }
    }
}
