import DNSWire
import ProtocolCore

/// Sends the selected answers, with additional records that make the next question unnecessary (RFC 6762 §6, RFC 6763
/// §12).
extension Responder {
    mutating func sendDueAnswers(now: Instant, _ actions: inout [Action]) {
        guard attachments.values.contains(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
        for interface in orderedInterfaces {
            guard let network = attachments[interface]?.network else { continue }
            for family in network.orderedFamilies {
                var due: [Answer] = []
                attachments[interface]?.changeGroupQueue(of: family) { due = $0.takeDue(now: now) }
                for bytes in ResponsePacker.pack(units(for: due, on: network)) {
                    actions.append(
                        .send(OutboundDatagram(bytes: bytes, interface: interface, destination: .multicast(family))))
                }
            }
            for (asker, answers) in attachments[interface]?.takeDueReplies(now: now) ?? [] {
                for bytes in ResponsePacker.pack(units(for: answers, on: network)) {
                    actions.append(.send(unicast(bytes, to: asker, on: interface)))
                }
            }
        }
    }

    /// Answers like a unicast DNS server (§6.7): with the query's id and question, without cache-flush bits, with short
    /// times to live, in one packet of a size that every resolver accepts. If an answer does not fit, the TC bit is
    /// set.
    func answerLegacy(_ answers: [Answer], _ inbound: InboundMessage, _ actions: inout [Action]) {
        guard let network = attachments[inbound.interface]?.network else { return }
        let units = units(for: answers, on: network)
        var encoder = MessageEncoder(limit: PacketSize.legacy, compression: .unicast)
        for question in inbound.message.questions where !encoder.append(question) { return }
        var flags: MessageFlags = [.response, .authoritative]
        var seen: Set<Record> = []
        for record in units.flatMap(\.answers) where seen.insert(record).inserted {
            if !encoder.append(record.forLegacyResolver, to: .answer) { flags.insert(.truncated) }
        }
        for record in units.flatMap(\.additionals) where seen.insert(record).inserted && record.type != .nsec {
            _ = encoder.append(record.forLegacyResolver, to: .additional)
        }
        let bytes = encoder.finish(id: inbound.message.id, flags: flags)
        actions.append(.send(unicast(bytes, to: inbound.source, on: inbound.interface)))
    }

    private func unicast(_ bytes: [UInt8], to asker: Peer, on interface: InterfaceID) -> OutboundDatagram {
        OutboundDatagram(
            bytes: bytes, interface: interface, destination: .unicast(asker.address, port: asker.port))
    }

    private func units(for answers: [Answer], on network: NetworkInterface) -> [ResponseUnit] {
        answers.compactMap { answer in
            let records = records(answer, on: network)
            return records.isEmpty
                ? nil : ResponseUnit(answers: records, additionals: additionals(for: answer, on: network))
        }
    }

    /// Returns the additional records. RFC 6763 §12: a service's PTR includes SRV, TXT and addresses; an SRV includes
    /// the addresses; an address includes those of the other family. A unique record also includes the negative answer
    /// of its name (RFC 6762 §6.1).
    private func additionals(for answer: Answer, on network: NetworkInterface) -> [Record] {
        guard let content = groups[answer.group]?.content else { return [] }
        switch answer.slot {
        case .negative, .answeredOnly:
            return []
        case .unique(.srv):
            return addresses(of: content.requires, on: network) + [content.negative(on: network)]
        case .unique(let type):
            let isAddress = type == .a || type == .aaaa
            let others = content.unique(on: network).filter { isAddress && $0.type != type }
            return others + [content.negative(on: network)]
        case .shared(let index):
            guard case .ptr(content.name) = content.shared[index].data else { return [] }
            return content.unique(on: network) + addresses(of: content.requires, on: network)
        }
    }

    private func addresses(of id: GroupID?, on network: NetworkInterface) -> [Record] {
        guard let content = id.flatMap({ groups[$0]?.content }) else { return [] }
        return content.unique(on: network) + [content.negative(on: network)]
    }
}

extension Record {
    fileprivate var forLegacyResolver: Record {
        var record = self
        record.isCacheFlush = false
        record.timeToLive = min(timeToLive, RFC6762.legacyTimeToLive)
        return record
    }
}
