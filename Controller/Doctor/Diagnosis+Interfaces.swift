import DNSWire
import LinuxNetwork

extension Diagnosis {
    /// The state of an interface.
    private enum Condition: Equatable {
        case off, withoutLink, withoutMulticast, withoutAddress, checkingAddresses
        case usable(isRoutable: Bool)
    }

    static func ofInterfaces(_ seen: Observations) -> [Finding] {
        let conditions = seen.interfaces.filter { isCandidate($0, seen.filter) }.map { ($0, condition($0)) }
        let anyUsable = conditions.contains { if case .usable = $0.1 { true } else { false } }
        let anyRoutable = conditions.contains { $0.1 == .usable(isRoutable: true) }
        var findings = missing(seen)
        for (interface, condition) in conditions {
            let isWanted = !anyUsable || isNamed(interface.name, seen.filter)
            if let finding = finding(interface, condition, isWanted: isWanted, anyRoutable: anyRoutable) {
                findings.append(finding)
            }
        }
        if conditions.isEmpty && findings.isEmpty {
            findings.append(
                Finding(
                    .problem, .interface, "this host has no network interface",
                    why: "plugs cannot be found without one",
                    next: "connect a cable or join a wireless network; `ip link` lists the interfaces"))
        }
        return findings
    }

    private static func missing(_ seen: Observations) -> [Finding] {
        guard case .named(let names) = seen.filter else { return [] }
        let there = seen.interfaces.map(\.name)
        return names.subtracting(there).sorted().map { name in
            Finding(
                .problem, .interface, name, "this host has no interface with this name",
                next: "use one of \(list(there)) with --interface or SMARTPLUG_INTERFACE")
        }
    }

    private static func isNamed(_ name: String, _ filter: InterfaceFilter) -> Bool {
        switch filter {
        case .named(let names): names.contains(name)
        case .multicastCapable, .every: false
        }
    }

    /// Returns true for interfaces to examine. These include interfaces without the multicast flag, which the filter
    /// would omit without a notice.
    private static func isCandidate(_ interface: LinuxInterface, _ filter: InterfaceFilter) -> Bool {
        switch filter {
        case .named, .every: filter.admits(interface)
        case .multicastCapable:
            filter.admits(interface)
                || interface.flags.contains(.up) && interface.flags.isDisjoint(with: [.loopback, .pointToPoint])
        }
    }

    private static func condition(_ interface: LinuxInterface) -> Condition {
        guard interface.flags.contains(.up) else { return .off }
        guard interface.flags.contains(.running) else { return .withoutLink }
        guard !interface.flags.isDisjoint(with: [.multicast, .loopback]) else { return .withoutMulticast }
        let addresses = interface.usableAddresses
        // IPv6 multicast is sent from the link-local address.
        guard addresses.contains(where: { $0.family == .v4 || $0.isLinkLocal }) else {
            return interface.addresses.contains { !$0.isUsable } ? .checkingAddresses : .withoutAddress
        }
        return .usable(isRoutable: addresses.contains { !$0.isLinkLocal })
    }

    /// Returns the finding about an interface. Nil for an interface that is off or has no link, if another interface is
    /// usable and the user did not name this one.
    private static func finding(
        _ interface: LinuxInterface, _ condition: Condition, isWanted: Bool, anyRoutable: Bool
    ) -> Finding? {
        let name = interface.name
        let level: Finding.Level = isWanted ? .problem : .warning
        switch condition {
        case .off:
            guard isWanted else { return nil }
            return Finding(level, .interface, name, "it is switched off", next: "ip link set \(name) up")
        case .withoutLink:
            guard isWanted else { return nil }
            return Finding(
                level, .interface, name, "it has no link",
                why: "no cable is plugged in, or no wireless network is joined",
                next: "connect it")
        case .withoutMulticast:
            return Finding(
                level, .interface, name, "multicast is disabled",
                why: "its multicast flag is off, but plugs are found by multicast",
                next: "ip link set \(name) multicast on")
        case .withoutAddress:
            return Finding(
                level, .interface, name, "it has no address to send from",
                why: "it has neither an address from DHCP nor a link-local address",
                next: "check the DHCP server, or enable IPv6 with its link-local addresses")
        case .checkingAddresses:
            return Finding(
                level, .interface, name, "its addresses are not usable yet",
                why: "the kernel is checking for duplicate addresses, or has found one",
                next:
                    "wait some seconds; `ip address show \(name)` shows \"dadfailed\" if another host has the address"
            )
        case .usable(let isRoutable):
            let addresses = list(interface.usableAddresses.map { "\($0)" })
            guard !isRoutable && !anyRoutable else { return Finding(.ok, .interface, name, addresses) }
            return Finding(
                .warning, .interface, name, "only link-local addresses: \(addresses)",
                why: "it got no routable address; plugs on the same link are still found",
                next: "check the router, if there is one")
        }
    }
}

extension LinuxInterface {
    fileprivate var usableAddresses: [IPAddress] {
        addresses.filter(\.isUsable).compactMap { IPAddress(bytes: $0.bytes) }
    }
}
