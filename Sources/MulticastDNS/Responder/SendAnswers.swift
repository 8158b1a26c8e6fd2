import DNSWire

/// Composes responses, with additional records that make the next question unnecessary (RFC 6762 §6, RFC 6763
/// §12).
extension Responder {
    /// Answers like a unicast DNS server (RFC 6762 §6.7): with the query's id and question, without cache-flush bits,
    /// with short times to live, in one packet of a size that every resolver accepts. If an answer does not fit, the TC
    /// bit is set.
    func answerLegacy(_ answers: [Answer], _ inbound: InboundMessage, _ actions: inout [Action]) {
        guard let network = networks[inbound.interface] else { return }
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
        send(
            [bytes], to: .unicast(inbound.source.address, port: inbound.source.port), on: inbound.interface, &actions)
    }

    /// Returns one group's due records, with the negative answer for all other types of its name. Returns nil without
    /// due answers.
    func unit(_ answers: [Answer], on network: NetworkInterface) -> ResponseUnit? {
        guard let content = answers.first.flatMap({ claims.content(of: $0.group) }) else { return nil }
        return ResponseUnit(
            answers: answers.flatMap { content.records($0.slot, on: network) },
            additionals: [content.negative(on: network)], option: content.option)
    }

    func units(for answers: [Answer], on network: NetworkInterface) -> [ResponseUnit] {
        answers.compactMap { answer in
            let records = claims.records(answer, on: network)
            return records.isEmpty
                ? nil
                : ResponseUnit(
                    answers: records, additionals: additionals(for: answer, on: network),
                    option: claims.content(of: answer.group)?.option)
        }
    }

    /// Returns the additional records. RFC 6763 §12: a service's PTR includes SRV, TXT and addresses; an SRV includes
    /// the addresses; an address includes those of the other family. A unique record also includes the negative answer
    /// of its name (RFC 6762 §6.1).
    private func additionals(for answer: Answer, on network: NetworkInterface) -> [Record] {
        guard let content = claims.content(of: answer.group) else { return [] }
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
        guard let content = id.flatMap({ claims.content(of: $0) }) else { return [] }
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
