/// The reason for managing an interface's addresses or not.
public enum RoleReason: Hashable, Sendable, CustomStringConvertible {
    /// `--addressing manage` or `--addressing observe` determines the decision.
    case asked
    /// No other program manages the interface.
    case nobodyElse
    /// Packets on the loopback interface never leave the host.
    case loopback
    /// ARP and DHCP need Ethernet addresses.
    case notEthernet
    /// A different program manages the interface; `evidence` is the file that shows it.
    case manager(Manager, evidence: String)
    /// A different program assigned this address.
    case foreignAddress(String)
    /// The interface is a bridge, a tunnel or a container's virtual link.
    case notHardware
    /// The interface has the plug's own Wi-Fi network.
    case ownNetwork
    /// The process lacks the given capabilities.
    case unprivileged(missing: [String])

    /// A program that manages network interfaces.
    public enum Manager: String, Hashable, Sendable {
        case networkManager = "NetworkManager"
        case dhcpcd
        case networkd = "systemd-networkd"
        case connman
    }

    /// The reason as text for the user.
    public var description: String {
        switch self {
        case .asked: "set by --addressing"
        case .nobodyElse: "no other program manages the interface"
        case .loopback: "it is the loopback interface"
        case .notEthernet: "it is not an Ethernet or Wi-Fi interface"
        case .manager(let manager, let evidence): "\(manager.rawValue) manages it, according to \(evidence)"
        case .foreignAddress(let address): "another program assigned the address \(address)"
        case .notHardware: "it is a virtual interface; use --interface with its name to let the plug manage it"
        case .ownNetwork: "it has the plug's own Wi-Fi network"
        case .unprivileged(let missing): "plugd runs without \(missing.joined(separator: " and "))"
        }
    }
}
