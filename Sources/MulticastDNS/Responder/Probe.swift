import DNSWire
import ProtocolCore

/// Probes for names (RFC 6762 §8.1) and advances claims.
extension Responder {
    /// Starts probing after a random wait. Groups that start within the random wait of an earlier one join it, so that
    /// probing for hundreds of services needs few packets. After many conflicts a group waits for its own longer pause.
    mutating func startProbing(_ id: GroupID, on interface: InterfaceID, now: Instant) {
        guard let group = groups[id] else { return }
        let pause = group.conflicts.pause
        if pause > .zero {
            setClaim(.probing(sent: 0, next: now + pause), of: id, on: interface)
            return
        }
        let start: Instant
        if let planned = attachments[interface]?.probeStart, planned > now {
            start = planned
        } else {
            start = now + random.duration(in: RFC6762.probeWait)
            attachments[interface]?.probeStart = start
        }
        setClaim(.probing(sent: 0, next: start), of: id, on: interface)
    }

    /// Advances every claim that is due by one step, and sends the packets of one interface together.
    mutating func advanceClaims(now: Instant, _ actions: inout [Action]) {
        guard let claimDeadline, claimDeadline <= now else { return }
        let ids = groups.keys.sorted()
        for interface in orderedInterfaces {
            var probes: [(id: GroupID, isFirst: Bool)] = []
            var announcements: [GroupID] = []
            for id in ids {
                guard let claim = groups[id]?.claims[interface] else { continue }
                switch step(claim, of: id, on: interface, now: now) {
                case .nothing: break
                case .probe(let isFirst): probes.append((id, isFirst))
                case .announce: announcements.append(id)
                }
            }
            // Host names come first: groups that waited for one are announced in the same packet.
            let waiting = ids.filter { groups[$0]?.claims[interface] == .waiting }
            for id in waiting.filter({ groups[$0]?.content.requires == nil }) + waiting
            where groups[id]?.claims[interface] == .waiting {
                guard let content = groups[id]?.content, isClaimed(content.requires, on: interface) else { continue }
                beginAnnouncing(id, on: interface, now: now)
                announcements.append(id)
            }
            if !probes.isEmpty { sendProbes(probes, on: interface, &actions) }
            if !announcements.isEmpty { announce(announcements, on: interface, now: now, &actions) }
        }
        reportClaims(ids, &actions)
        self.claimDeadline = groups.values.lazy.flatMap(\.claims.values).reduce(nil) { sooner($0, $1.deadline) }
    }

    private enum Step {
        case nothing
        case probe(isFirst: Bool)
        case announce
    }

    private mutating func step(_ claim: Claim, of id: GroupID, on interface: InterfaceID, now: Instant) -> Step {
        guard let deadline = claim.deadline, deadline <= now else { return .nothing }
        switch claim {
        case .probing(let sent, _) where sent < RFC6762.probeCount:
            groups[id]?.claims[interface] = .probing(sent: sent + 1, next: now + RFC6762.probeInterval)
            return .probe(isFirst: sent == 0)
        case .deferred:
            groups[id]?.claims[interface] = .probing(sent: 1, next: now + RFC6762.probeInterval)
            return .probe(isFirst: true)
        case .probing:
            groups[id]?.claims[interface] = .waiting
            return .nothing
        case .announcing(let sent, _):
            let interval = RFC6762.announcementInterval * (1 << sent)
            groups[id]?.claims[interface] =
                sent + 1 < RFC6762.announcementCount
                ? .announcing(sent: sent + 1, next: now + interval) : .announced
            return .announce
        case .waiting, .announced, .conflicted:
            return .nothing
        }
    }

    private mutating func beginAnnouncing(_ id: GroupID, on interface: InterfaceID, now: Instant) {
        groups[id]?.claims[interface] = .announcing(sent: 1, next: now + RFC6762.announcementInterval)
        groups[id]?.conflicts.succeeded()
    }

    private mutating func reportClaims(_ ids: [GroupID], _ actions: inout [Action]) {
        for id in ids {
            guard let group = groups[id], !group.isReported, group.claims.values.contains(where: \.isClaimed),
                !group.claims.values.contains(where: \.isPending)
            else { continue }
            groups[id]?.isReported = true
            actions.append(.claimed(id))
        }
    }

    /// Sends probes. §8.1 recommends unicast answers ("QU"), which are sent without delay. But if the host has a second
    /// responder, the kernel may deliver unicast packets for port 5353 to that responder's socket, and an objection of
    /// the name's owner would be lost. Only the first probe therefore requests unicast, and the owner objects to the
    /// second and third by multicast. If a second responder is known, the first probe requests multicast too: Avahi
    /// stays silent for half a second after each answer, even after a unicast answer that was lost.
    private func sendProbes(
        _ due: [(id: GroupID, isFirst: Bool)], on interface: InterfaceID, _ actions: inout [Action]
    ) {
        guard let network = attachments[interface]?.network else { return }
        let probes = due.compactMap { id, isFirst in
            groups[id].map { group in
                let proposed = group.content.unique(on: network)
                return ProbePacker.Probe(
                    name: group.content.name, wantsUnicast: isFirst && !sharesPort, proposed: proposed)
            }
        }
        multicast(ProbePacker.pack(probes), on: network, &actions)
    }

    func multicast(_ packets: [[UInt8]], on network: NetworkInterface, _ actions: inout [Action]) {
        for family in network.orderedFamilies {
            for bytes in packets {
                actions.append(
                    .send(OutboundDatagram(bytes: bytes, interface: network.id, destination: .multicast(family))))
            }
        }
    }
}

/// Packs probes, each question in the same packet as its proposed records.
enum ProbePacker {
    struct Probe {
        let name: Name
        let wantsUnicast: Bool
        let proposed: [Record]

        var estimatedLength: Int { name.bytes.count + 4 + proposed.reduce(0) { $0 + $1.estimatedLength } }
    }

    static func pack(_ probes: [Probe]) -> [[UInt8]] {
        chunks(of: probes, limit: PacketSize.usual, length: \.estimatedLength).flatMap { encode($0[...]) }
    }

    /// Encodes probes. If the estimate was too low, the packet is halved until it fits; a single probe that exceeds the
    /// largest packet is dropped.
    private static func encode(_ probes: ArraySlice<Probe>) -> [[UInt8]] {
        let message = Message(
            questions: probes.map { Question(name: $0.name, type: .any, wantsUnicast: $0.wantsUnicast) },
            authorities: probes.flatMap { probe in
                probe.proposed.map { record in
                    var record = record
                    // §10.2: the cache-flush bit is valid in responses only.
                    record.isCacheFlush = false
                    return record
                }
            })
        let limit = probes.count == 1 ? PacketSize.largest : PacketSize.usual
        if let bytes = try? message.encoded(limit: limit) { return [bytes] }
        guard probes.count > 1 else { return [] }
        return encode(probes.prefix(probes.count / 2)) + encode(probes.suffix(probes.count - probes.count / 2))
    }
}

/// Splits a list into parts whose estimated lengths stay within the limit. An element that exceeds the limit forms its
/// own part.
func chunks<Element>(of elements: [Element], limit: Int, length: (Element) -> Int) -> [[Element]] {
    var chunks: [[Element]] = []
    var used = Int.max
    for element in elements {
        let size = length(element)
        if used > limit - size {
            chunks.append([])
            used = 12
        }
        chunks[chunks.count - 1].append(element)
        used += size
    }
    return chunks
}
