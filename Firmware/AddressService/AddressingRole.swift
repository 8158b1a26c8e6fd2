package import LinuxNetwork

/// The decision whether the plug manages an interface, with its reason.
package struct AddressingRole: Hashable, Sendable {
    /// True if the plug manages the interface.
    package var isManaged: Bool
    /// The reason for the decision.
    package var reason: RoleReason

    /// The inputs of the decision.
    package struct Facts: Hashable, Sendable {
        /// The configured mode.
        package var mode: AddressingMode
        /// The interface with its addresses.
        package var interface: LinuxInterface
        /// True if `--interface` names the interface.
        package var isNamed: Bool
        /// True for a network card with a driver, false for a bridge or a tunnel.
        package var isHardware: Bool
        /// The program that manages the interface, or nil.
        package var manager: RoleReason?
        /// The addresses that the plug had on this interface, in network byte order.
        package var remembered: Set<[UInt8]>
        /// The required capabilities that the process does not have.
        package var missingCapabilities: [String]

        /// Creates the inputs.
        package init(
            mode: AddressingMode, interface: LinuxInterface, isNamed: Bool = false, isHardware: Bool = true,
            manager: RoleReason? = nil, remembered: Set<[UInt8]> = [], missingCapabilities: [String] = []
        ) {
            self.mode = mode
            self.interface = interface
            self.isNamed = isNamed
            self.isHardware = isHardware
            self.manager = manager
            self.remembered = remembered
            self.missingCapabilities = missingCapabilities
        }

        /// An address that neither the plug nor the kernel assigned.
        fileprivate var foreignAddress: LinuxAddress? {
            interface.addresses.first { address in
                switch address.origin {
                case .plug, .kernel: false
                // The kernel marks its own link-local addresses only since Linux 5.18.
                case .unknown: !address.isLinkLocalIPv6 && !remembered.contains(address.bytes)
                }
            }
        }
    }

    /// Decides whether the plug manages an interface.
    package static func decide(_ facts: Facts) -> AddressingRole {
        if facts.interface.flags.contains(.loopback) { return observe(.loopback) }
        if facts.interface.hardwareAddress.count != 6 { return observe(.notEthernet) }
        switch facts.mode {
        case .observe: return observe(.asked)
        case .manage:
            guard facts.missingCapabilities.isEmpty else { break }
            return AddressingRole(isManaged: true, reason: .asked)
        case .auto:
            if let manager = facts.manager { return observe(manager) }
            if let address = facts.foreignAddress { return observe(.foreignAddress(address.text)) }
            if !facts.isHardware, !facts.isNamed { return observe(.notHardware) }
            guard facts.missingCapabilities.isEmpty else { break }
            return AddressingRole(isManaged: true, reason: .nobodyElse)
        }
        return observe(.unprivileged(missing: facts.missingCapabilities))
    }

    private static func observe(_ reason: RoleReason) -> AddressingRole {
        AddressingRole(isManaged: false, reason: reason)
    }
}
