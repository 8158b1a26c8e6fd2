import DNSWire
public import LinkWire
import ProtocolCore

/// The link comes, goes and changes.
extension InterfaceAddressing {
    mutating func linkCame(now: Instant) {
        if isLinkUp { linkWent(now: now) }
        isLinkUp = true
        // What a plugd before us had was ours a moment ago, on the same link.
        if hadLink { lingering.formIntersection(inUse) }
        lingeringUntil = now + Self.longestLingering
        tellDHCP(.linkUp(isPowerOn: configuration.isPowerOn && !hadLink), now: now)
        hadLink = true
    }

    mutating func linkWent(now: Instant) {
        guard isLinkUp else { return }
        isLinkUp = false
        doubtAll()
        lingeringUntil = nil
        tellDHCP(.linkDown, now: now)
    }

    /// While the host slept, others may have claimed what we had, or the host was carried elsewhere.
    mutating func resume(now: Instant) {
        guard isLinkUp else { return }
        doubtAll()
        lingeringUntil = now + Self.longestLingering
        tellDHCP(.resumed, now: now)
    }

    /// An address without a connection goes at once: when the link is back, the kernel would use it before we could take it off.
    private mutating func doubtAll() {
        linkLocal = .none
        lease = .none
        lingering = interface.present.intersection(inUse)
    }

    /// Another card is another host to its neighbours: all begins anew, but for the lease, which is the client identifier's.
    mutating func changeHardware(to address: MACAddress, now: Instant) {
        guard address != hardware else { return }
        hardware = address
        linkLocal = .none
        lease = .none
        lingering = []
        memory.linkLocal = nil
        selection = LinkLocalSelection(hardware: address, remembered: nil)
        dhcp = Self.client(configuration, address, memory.lease, random: &random)
        if isLinkUp { tellDHCP(.linkUp(isPowerOn: false), now: now) }
    }

    mutating func stopLingering(_ isOver: (IPv4Address) -> Bool) {
        lingering = lingering.filter { !isOver($0) }
    }

    /// Connections began and ended.
    mutating func use(_ addresses: Set<IPv4Address>) { inUse = addresses.intersection(interface.present) }

    /// False for what is about addresses of others, and for our own packets, which access points send back: such a packet changes
    /// nothing.
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

    /// In the kernel's place, which answers nothing while an address of ours is link-local or not verified.
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
