import AddressConfiguration
import DNSWire
import LinuxNetwork
import Logging

/// Performs the actions of the machines in the kernel.
extension AddressedInterface {
    func perform(_ action: AddressingAction) {
        switch action {
        case .sendARP(let packet): frames?.broadcast(packet)
        case .broadcastDHCP(let message): frames?.broadcast(message)
        case .sendDHCP(let message, let source, let server):
            let packet = UDPDatagram(
                sourcePort: DHCPPacket.clientPort, destinationPort: DHCPPacket.serverPort, payload: message.encoded
            ).packet(from: source, to: server)
            // If this fails, the machine retries and finally broadcasts.
            attempt { () throws(RouteError) in
                try RenewalSocket.send(packet.payload, from: source, to: server, through: interface.index)
            }
        case .assign(let address): assign(address)
        case .remove(let address): remove(address)
        case .setRoutes(let wanted):
            let wanted = wanted.map { route in
                InterfaceRoute(
                    interface: interface.index, destination: route.destination, prefixLength: route.prefixLength,
                    router: route.router, source: route.source, metric: route.metric)
            }
            routes = wanted
            set(wanted)
        case .kernelAnswersARP(let answers): letKernelAnswer(answers)
        case .handOn(let servers): report(.servers(servers))
        case .remember(let addresses): report(.remember(addresses))
        case .notice(let notice): log(notice)
        }
    }

    func perform(_ action: IPv6LinkLocalClaim.Action) {
        switch action {
        case .enable:
            logger.notice("IPv6 was disabled; enabled it for a link-local address")
            if let code = settings.disableIPv6.set("0", on: interface.name) {
                logger.warning("cannot enable IPv6: \(errorText(code))")
            }
        case .assign(let address):
            logger.info("link-local address \(address) added")
            let new = KernelAddress(
                interface: interface.index, address: .v6(address), prefixLength: 64, scope: .link)
            attempt { () throws(RouteError) in try control.perform(.put(new)) }
        case .remove(let address):
            attempt { () throws(RouteError) in
                try control.perform(.removeAddress(interface: interface.index, .v6(address), prefixLength: 64))
            }
        case .duplicate(let address, let next):
            logger.notice(
                "another host also has the link-local address \(address)",
                metadata: ["next": next.map { "a new address in \($0.components.seconds) s" } ?? "a new address"])
        }
    }

    /// Performs a kernel request whose failure needs no reaction here, so an error is logged only at the debug level.
    func attempt(_ work: () throws(RouteError) -> Void) {
        do throws(RouteError) { try work() } catch { logger.debug("\(error)", metadata: ["hint": "\(error.hint)"]) }
    }

    func set(_ routes: [InterfaceRoute]) {
        guard let fault = control.replaceRoutes(of: interface.index, with: routes) else { return }
        // Without a link no routes can be set; they are set again when the link returns.
        logger.log(
            level: interface.flags.contains(.up) ? .warning : .debug, "\(fault)", metadata: ["hint": "\(fault.hint)"])
    }

    private func assign(_ address: AssignedAddress) {
        let wanted = KernelAddress(
            interface: interface.index, address: .v4(address.address), prefixLength: address.prefixLength,
            broadcast: address.broadcast, scope: address.scope == .link ? .link : .global,
            isPreferred: address.isPreferred, validFor: address.validFor)
        do throws(RouteError) {
            // The kernel accepts the same address twice if only the prefix length differs.
            if let former = assigned[address.address], former.prefixLength != address.prefixLength {
                remove(address.address)
            }
            note(address.address)
            try control.perform(.put(wanted))
            let wasSeen = assigned[address.address]?.wasSeen ?? false
            assigned[address.address] = (address.prefixLength, wasSeen)
            answers.append(.assigned(address.address))
        } catch {
            logger.warning("\(error)", metadata: ["hint": "\(error.hint)"])
            answers.append(.assignmentFailed(address.address, reason: error.reason))
        }
    }

    func remove(_ address: IPv4Address) {
        guard let known = assigned.removeValue(forKey: address) else { return }
        attempt { () throws(RouteError) in
            try control.perform(
                .removeAddress(interface: interface.index, .v4(address), prefixLength: known.prefixLength))
        }
    }

    /// Enables or disables the ARP handling of the kernel. The kernel sends its ARP replies and its neighbour probes by
    /// unicast, but both must be broadcast while there is a link-local address (RFC 3927 §2.5).
    private func letKernelAnswer(_ answers: Bool) {
        guard !answers else {
            settings.ignoredARP.restore(on: interface.name)
            settings.unicastProbes.restore(on: interface.name)
            return
        }
        for code in [
            settings.ignoredARP.set("8", on: interface.name), settings.unicastProbes.set("0", on: interface.name),
        ] {
            guard let code else { continue }
            logger.warning("the kernel still answers ARP requests by unicast: \(errorText(code))")
        }
    }

    /// Detects assigned addresses that another program removed. The list may be older than the last change, so the
    /// kernel is queried before an address counts as removed.
    func look(for addresses: [LinuxAddress]) {
        let present = Set(addresses.compactMap(\.version4))
        var missing: [IPv4Address] = []
        for (address, known) in assigned {
            if present.contains(address) {
                assigned[address]?.wasSeen = true
            } else if known.wasSeen {
                missing.append(address)
            }
        }
        guard !missing.isEmpty else { return }
        var now: [LinuxAddress] = []
        do throws(RouteError) { now = try control.addresses(of: interface.index) } catch { return }
        let really = Set(now.compactMap(\.version4))
        for address in missing where !really.contains(address) {
            assigned[address] = nil
            handle(.assignmentFailed(address, reason: "another program removed it"))
        }
    }

    private func log(_ notice: AddressingNotice) {
        switch notice {
        case .claimed(let address): logger.notice("the link-local address is \(address)")
        case .leased(let address, let server, let duration):
            let time = duration.map { "for \($0.components.seconds) s" } ?? "without a time limit"
            logger.notice("the address is \(address), from the DHCP server \(server), \(time)")
        case .fixed(let address): logger.notice("the address is \(address), as configured")
        case .leaseLost(let address, let end): logger.notice("the lease of \(address) has ended: \(end)")
        case .conflict(let address, let other): logger.notice("\(other) also uses or claims \(address)")
        case .defended(let address, let other): logger.notice("\(address) defended against \(other)")
        case .gaveUp(let address): logger.notice("\(address) given up")
        case .rateLimited:
            logger.warning(
                "too many conflicts: trying one new address per minute",
                metadata: ["hint": "a host on this network answers for every address"])
        case .assignmentFailed(let address, let reason): logger.warning("cannot use \(address): \(reason)")
        }
    }
}
