import DNSWire
import ProtocolCore

/// Handles changes of the link.
extension InterfaceAddressing {
    mutating func linkCame(now: Instant) {
        if isLinkUp { linkWent(now: now) }
        isLinkUp = true
        // When the link comes up for the first time since plugd started, all inherited addresses linger, because a
        // previous plugd had them a moment ago on the same link. Later, only addresses with connections linger.
        if hadLink { lingering.formIntersection(inUse) }
        lingeringUntil = now + Self.longestLingering
        tellSource(.linkUp(isPowerOn: configuration.isPowerOn && !hadLink), now: now)
        hadLink = true
    }

    mutating func linkWent(now: Instant) {
        guard isLinkUp else { return }
        isLinkUp = false
        doubtAll()
        lingeringUntil = nil
        tellSource(.linkDown, now: now)
    }

    /// Handles a resume after a suspend. Other hosts may have claimed our addresses, or the host may be in a different
    /// network.
    mutating func resume(now: Instant) {
        guard isLinkUp else { return }
        doubtAll()
        lingeringUntil = now + Self.longestLingering
        tellSource(.resumed, now: now)
    }

    /// Stops all claims. Addresses without a connection are removed immediately: otherwise the kernel would use them
    /// when the link returns, before they could be removed.
    private mutating func doubtAll() {
        linkLocal = .none
        lease = .none
        lingering = interface.present.intersection(inUse)
    }

    /// Restarts with a new network card, which is a new host to its neighbours. Only the remembered lease is kept,
    /// because it belongs to the client identifier.
    mutating func changeHardware(to address: MACAddress, now: Instant) {
        guard address != hardware else { return }
        hardware = address
        linkLocal = .none
        lease = .none
        lingering = []
        memory.linkLocal = nil
        selection = LinkLocalSelection(hardware: address, remembered: nil)
        source = Self.source(configuration, address, memory.lease, random: &random)
        if isLinkUp { tellSource(.linkUp(isPowerOn: false), now: now) }
    }

    mutating func stopLingering(_ isOver: (IPv4Address) -> Bool) {
        lingering = lingering.filter { !isOver($0) }
    }

    /// Stores the addresses with connections.
    mutating func use(_ addresses: Set<IPv4Address>) { inUse = addresses.intersection(interface.present) }

    /// Returns false while the link is down, for packets about other addresses, and for our own packets, which access
    /// points send back. Such packets change nothing.
    public func concerns(_ packet: ARPPacket) -> Bool {
        isLinkUp && packet.senderHardware != hardware
            && (isOurs(packet.senderAddress) || isOurs(packet.targetAddress))
    }

    private func isOurs(_ address: IPv4Address) -> Bool {
        address == linkLocal.address || address == lease.address || lingering.contains(address)
    }

    mutating func received(_ packet: ARPPacket, now: Instant) {
        let before = conflicts
        heardForLinkLocal(packet, now: now)
        heardForLease(packet, now: now)
        if lingering.remove(packet.senderAddress) != nil, conflicts == before {
            countConflict(about: packet.senderAddress, with: packet.senderHardware)
        }
        if conflicts == before { answer(packet, now: now) }
    }

    mutating func countConflict(about address: IPv4Address, with other: MACAddress) {
        conflicts += 1
        outbox.append(.notice(.conflict(address, with: other)))
    }

    /// Replies to an ARP request instead of the kernel, which does not reply while one of our addresses is link-local
    /// or unverified.
    private mutating func answer(_ packet: ARPPacket, now: Instant) {
        guard interface.kernelAnswersARP == false, packet.operation == .request, isAnswered(packet.targetAddress),
            answers.take(now: now)
        else { return }
        outbox.append(.sendARP(.reply(to: packet, from: hardware)))
    }

    private func isAnswered(_ address: IPv4Address) -> Bool {
        address != .any && wanted.contains { $0.address == address } && interface.present.contains(address)
    }
}
