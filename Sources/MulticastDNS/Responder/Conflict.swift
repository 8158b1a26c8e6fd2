import DNSWire
import ProtocolCore

/// Handles other hosts' responses about our names: conflicts (RFC 6762 §8.1, §9), answers that make ours unnecessary
/// (§7.4), and our records that another host sends with too short a time to live (§6.6).
extension Responder {
    mutating func noteResponse(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        for records in [inbound.message.answers, inbound.message.additionals] {
            for record in records { noteResponse(record, inbound, now: now, &actions) }
        }
    }

    private mutating func noteResponse(
        _ record: Record, _ inbound: InboundMessage, now: Instant, _ actions: inout [Action]
    ) {
        for id in owners[record.name] ?? [] {
            guard let group = groups[id], let claim = group.claims[inbound.interface] else { continue }
            if group.content.name == record.name, !isOwn(record, of: group.content, now: now) {
                noteForeign(record, for: id, claim, inbound, now: now, &actions)
            } else if claim.isClaimed, inbound.wasMulticast {
                noteDuplicate(record, of: id, inbound, now: now)
            }
        }
    }

    /// Handles another host's record under our name. A goodbye is not a claim. An NSEC record is not a claim either: it
    /// only accompanies other records, and this host's own NSEC record differs per interface.
    private mutating func noteForeign(
        _ record: Record, for id: GroupID, _ claim: Claim, _ inbound: InboundMessage, now: Instant,
        _ actions: inout [Action]
    ) {
        guard record.timeToLive > 0, record.type != .nsec, let content = groups[id]?.content,
            let network = attachments[inbound.interface]?.network
        else { return }
        switch claim {
        case .probing(sent: 0, _):
            // §8.1: a response from before the first probe may be stale. An owner of the name will object to the probe.
            return
        case .probing, .deferred, .waiting:
            // A record of any type shows that the name is in use.
            groups[id]?.conflicts.note(now: now)
            for interface in orderedInterfaces where groups[id]?.claims[interface]?.isClaimed == false {
                setClaim(.conflicted, of: id, on: interface)
            }
            actions.append(.conflicted(id, by: inbound.source))
        case .announcing, .announced:
            // §6: a unicast response does not count here, because only a probe requests one.
            guard inbound.wasMulticast, content.unique(on: network).contains(where: { $0.type == record.type }) else {
                return
            }
            // §9: both hosts return to probing, and the tiebreak or the other host's defence decides.
            groups[id]?.conflicts.note(now: now)
            startProbing(id, on: inbound.interface, now: now)
        case .conflicted:
            return
        }
    }

    private mutating func noteDuplicate(_ record: Record, of id: GroupID, _ inbound: InboundMessage, now: Instant) {
        let family = inbound.source.address.family
        guard let network = attachments[inbound.interface]?.network, let content = groups[id]?.content,
            // Only a response that arrives while an answer waits, or that has a short time to live, can matter. For all
            // others the search is skipped, because one name may have hundreds of records.
            attachments[inbound.interface]?.hasAnswers(family) == true
                || record.timeToLive < RFC6762.otherTimeToLive / 2,
            let (slot, own) = content.slot(of: record, on: network)
        else { return }
        let answer = Answer(group: id, slot: slot)
        if record.timeToLive >= own.timeToLive {
            // If the answer has several records, another host's copy of one record does not replace it.
            if content.records(slot, on: network).count == 1 {
                attachments[inbound.interface]?.changeQueues(of: family) { $0.cancel(answer) }
            }
        } else if record.timeToLive < own.timeToLive / 2 {
            attachments[inbound.interface]?.changeGroupQueue(of: family) {
                $0.enqueue(answer, window: now...now, asker: nil, interval: RFC6762.multicastInterval)
            }
        }
    }
}

extension RecordGroup {
    /// Returns this host's record that equals the given one, with its slot, or nil if no record is equal.
    fileprivate func slot(of record: Record, on network: NetworkInterface) -> (Answer.Slot, Record)? {
        if record.name == name {
            return unique(on: network).first { $0.hasSameContent(as: record) }.map { (.unique($0.type), $0) }
        }
        if let index = shared.firstIndex(where: { $0.hasSameContent(as: record) }) {
            return (.shared(index), shared[index])
        }
        return answeredOnly.firstIndex { $0.hasSameContent(as: record) }.map { (.answeredOnly($0), answeredOnly[$0]) }
    }
}
