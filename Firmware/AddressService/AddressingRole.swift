package import LinuxNetwork

/// Who gives an interface its addresses, and why.
package struct AddressingRole: Hashable, Sendable {
    package var isManaged: Bool
    package var reason: RoleReason

    /// What an answer follows from.
    package struct Facts: Hashable, Sendable {
        package var mode: AddressingMode
        package var interface: LinuxInterface
        /// `--interface` names it.
        package var isNamed: Bool
        /// A driver drives a card, as opposed to a bridge or a tunnel.
        package var isHardware: Bool
        package var manager: RoleReason?
        /// In network order: what the plug had on this interface before.
        package var remembered: Set<[UInt8]>
        /// Of the capabilities that managing takes, those that the process lacks.
        package var missingCapabilities: [String]

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

        /// One that neither the plug nor the kernel gave it.
        fileprivate var foreignAddress: LinuxAddress? {
            interface.addresses.first { address in
                switch address.origin {
                case .plug, .kernel: false
                // The kernel's own link-local address has no mark before Linux 5.18.
                case .unknown: !address.isLinkLocalIPv6 && !remembered.contains(address.bytes)
                }
            }
        }
    }

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
