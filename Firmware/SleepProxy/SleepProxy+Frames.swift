import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore

/// Frames of the link: answers for sleepers, triggers, conflicts, and signs of hosts that are awake.
extension SleepProxy {
    mutating func receive(frame bytes: [UInt8], now: Instant) {
        guard let link, let frame = ReceivedFrame(decoding: bytes), frame.source != link.hardware else { return }
        noticed(frame.source, now: now)
        switch frame.content {
        case .arp(let packet): receive(packet, on: link, now: now)
        case .neighbor(let message, let source): receive(message, from: source, frame, on: link, now: now)
        case .connection(let address, let port):
            trigger(address, SleeperRecords.ServicePort(isTCP: true, number: port), .connection, frame, now: now)
        case .datagram(let address, let port):
            trigger(address, SleeperRecords.ServicePort(isTCP: false, number: port), .datagram, frame, now: now)
        case .other: break
        }
    }

    private mutating func receive(_ packet: ARPPacket, on link: ProxyLink, now: Instant) {
        guard packet.senderHardware != link.hardware else { return }
        noticed(packet.senderHardware, now: now)
        if packet.senderAddress != .any { claimed(.v4(packet.senderAddress), by: packet.senderHardware, now: now) }
        // An announcement asks for the sender's own address and needs no answer.
        guard packet.operation == .request, packet.senderAddress != packet.targetAddress,
            let sleeper = sleepers.sleeper(at: .v4(packet.targetAddress)), sleeper.isRepresented
        else { return }
        send(.reply(to: packet, from: link.hardware), to: packet.senderHardware, on: link)
    }

    private mutating func receive(
        _ message: NeighborMessage, from source: IPv6Address, _ frame: ReceivedFrame, on link: ProxyLink, now: Instant
    ) {
        switch message.kind {
        case .advertisement:
            let hardware = message.hardware ?? frame.source
            guard hardware != link.hardware else { return }
            noticed(hardware, now: now)
            claimed(.v6(message.target), by: hardware, now: now)
        case .solicitation:
            if let hardware = message.hardware { noticed(hardware, now: now) }
            // A message without a source checks whether the address is free, and does not claim it.
            if source != .unspecified { claimed(.v6(source), by: message.hardware ?? frame.source, now: now) }
            guard let sleeper = sleepers.sleeper(at: .v6(message.target)), sleeper.isRepresented else { return }
            // The sender of a check without an address receives the answer at the group of all hosts (RFC 4861 §7.2.4).
            let isCheck = source == .unspecified
            let answer = NeighborMessage(
                .advertisement(isSolicited: !isCheck, overrides: false), target: message.target,
                hardware: link.hardware)
            let packet = answer.packet(from: message.target, to: isCheck ? .allNodes : source)
            let destination = isCheck ? IPv6Address.allNodes.ethernetGroup : message.hardware ?? frame.source
            send(packet, to: destination, on: link)
        }
    }

    /// A card uses an address as its own.
    private mutating func claimed(_ address: IPAddress, by card: MACAddress, now: Instant) {
        answered(address, by: card, now: now)
        if var correction = corrections[card] {
            correction.announced(address)
            corrections[card] = correction
        }
        guard let sleeper = sleepers.sleeper(at: address), sleeper.owner.card != card else { return }
        switch sleeper.phase {
        case .asleep: wake(sleeper.owner.card, .addressConflict, now: now)
        case .waking: break
        case .recovering, .settling: dismiss(sleeper, .answerOfAnotherCard, .addressConflict, now: now)
        }
    }

    /// A packet for a sleeper arrived. Only packets to one card count: a broadcast is for all hosts.
    private mutating func trigger(
        _ address: IPAddress, _ port: SleeperRecords.ServicePort, _ cause: WakeCause, _ frame: ReceivedFrame,
        now: Instant
    ) {
        guard !frame.destination.isGroup, let sleeper = sleepers.sleeper(at: address),
            sleeper.records.ports.contains(port)
        else { return }
        wake(sleeper.owner.card, cause, now: now)
    }

    /// Asks which card has the address.
    mutating func ask(_ address: IPAddress) {
        guard let link else { return }
        switch address {
        case .v4(let address):
            let request = ARPPacket(
                operation: .request, senderHardware: link.hardware, senderAddress: link.sourceV4,
                targetHardware: .zero, targetAddress: address)
            send(request, to: .broadcast, on: link)
        case .v6(let address):
            let group = address.solicitedNode
            let source = link.sourceV6
            // A message without a source address must not have the option (RFC 4861 §4.3).
            let message = NeighborMessage(.solicitation, target: address, hardware: source.map { _ in link.hardware })
            send(message.packet(from: source ?? .unspecified, to: group), to: group.ethernetGroup, on: link)
        }
    }

    /// Announces that a card has the address, so that neighbours update their caches.
    mutating func announce(_ address: IPAddress, of card: MACAddress) {
        guard let link else { return }
        switch address {
        case .v4(let address): send(.announcement(of: address, from: card), to: .broadcast, on: link)
        case .v6(let address):
            let message = NeighborMessage(
                .advertisement(isSolicited: false, overrides: true), target: address, hardware: card)
            send(
                message.packet(from: address, to: .allNodes), to: IPv6Address.allNodes.ethernetGroup, on: link)
        }
    }

    private mutating func send(_ packet: ARPPacket, to destination: MACAddress, on link: ProxyLink) {
        let frame = EthernetFrame(
            destination: destination, source: link.hardware, type: EthernetFrame.arp, payload: packet.encoded)
        output.append(.send(frame.encoded))
    }

    private mutating func send(_ packet: IPv6Packet, to destination: MACAddress, on link: ProxyLink) {
        let frame = EthernetFrame(
            destination: destination, source: link.hardware, type: EthernetFrame.ipv6, payload: packet.encoded)
        output.append(.send(frame.encoded))
    }
}
