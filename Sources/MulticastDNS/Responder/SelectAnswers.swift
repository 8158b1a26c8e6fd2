import DNSWire
import ProtocolCore

/// The answers to a query.
struct SelectedAnswers {
    /// The answers to send to the asker, in order.
    let unicast: [Answer]
    /// The answers to multicast, in order.
    let multicast: [Answer]
    /// True if the answers object to another host's probe.
    let isDefence: Bool

    /// Returns the time window of an answer. §6: immediately if no other host can answer and the query has only one
    /// question, otherwise after a random delay. §7.2: later if more known answers are announced. §8.1: immediately to
    /// stop a probe.
    func window(
        for answers: [Answer], to inbound: InboundMessage, now: Instant, _ random: inout SeededRandom
    ) -> ClosedRange<Instant> {
        if isDefence { return now...now }
        if inbound.message.flags.contains(.truncated) {
            let due = now + random.duration(in: RFC6762.truncatedAnswerDelay)
            return due...due
        }
        if inbound.message.questions.count == 1 && answers.allSatisfy(\.isUnique) { return now...now }
        return now...(now + random.duration(in: RFC6762.sharedAnswerDelay))
    }

    /// Returns true if the answers wait for more known answers of the asker (§7.2).
    func isHeld(_ inbound: InboundMessage) -> Bool { inbound.message.flags.contains(.truncated) && !isDefence }
}

/// Selects the answers to a query (RFC 6762 §6) and their receivers.
extension Responder {
    func selectAnswers(to inbound: InboundMessage, knowing known: KnownAnswers, now: Instant) -> SelectedAnswers {
        var selected: Set<Answer> = []
        var unicast: Set<Answer> = []
        var hasProbe = false
        guard let network = networks[inbound.interface] else {
            return SelectedAnswers(unicast: [], multicast: [], isDefence: false)
        }
        for question in inbound.message.questions where claims.contains(question.name) {
            let answers = answers(to: question, on: network).filter {
                inbound.source.isLegacy || !known.cover(claims.records($0, on: network))
            }
            if isForeignProbe(question, inbound, now: now) {
                hasProbe = hasProbe || !answers.isEmpty
            } else if isOwnProbe(question, inbound) {
                continue
            }
            selected.formUnion(answers)
            if question.wantsUnicast || !inbound.wasMulticast { unicast.formUnion(answers) }
        }
        if inbound.source.isLegacy {
            return SelectedAnswers(unicast: [], multicast: selected.sorted(), isDefence: hasProbe)
        }
        // §5.4: a question that requests a unicast answer gets one if the answer was multicast recently, otherwise a
        // multicast. A probe gets a unicast answer in both cases. Another responder on this host gets multicast only:
        // it shares our port, and the kernel might deliver a unicast answer to our own socket instead.
        if network.addresses.contains(where: { $0.address == inbound.source.address }) { unicast = [] }
        let recent = unicast.filter { wasMulticastRecently($0, inbound, on: network, now: now) }
        return SelectedAnswers(
            unicast: (hasProbe ? unicast : recent).sorted(), multicast: selected.subtracting(recent).sorted(),
            isDefence: hasProbe)
    }

    /// Returns the answers for which this host is authoritative on this interface.
    private func answers(to question: Question, on network: NetworkInterface) -> [Answer] {
        guard question.recordClass == .internet || question.recordClass == .any else { return [] }
        var answers: [Answer] = []
        for id in claims.ids(under: question.name) where claims.isClaimed(id, on: network.id) {
            guard let content = claims.content(of: id) else { continue }
            if content.name == question.name {
                let types = Set(content.unique(on: network).map(\.type))
                let matching = question.type == .any ? types : types.intersection([question.type])
                answers += matching.map { Answer(group: id, slot: .unique($0)) }
                // §6.1: this host owns the name, so it can deny that such a record exists.
                if matching.isEmpty { answers.append(Answer(group: id, slot: .negative)) }
            }
            for (index, record) in content.shared.enumerated() where question.isAnswered(by: record) {
                answers.append(Answer(group: id, slot: .shared(index)))
            }
            for (index, record) in content.answeredOnly.enumerated() where question.isAnswered(by: record) {
                answers.append(Answer(group: id, slot: .answeredOnly(index)))
            }
        }
        return answers
    }

    /// Returns true for a question with proposed records for its name, at least one of which is not ours.
    private func isForeignProbe(_ question: Question, _ inbound: InboundMessage, now: Instant) -> Bool {
        let proposed = inbound.message.authorities.filter { $0.name == question.name }
        return proposed.contains { record in
            claims.ids(under: question.name).contains { id in
                guard let content = claims.content(of: id), content.name == question.name else { return false }
                return !claims.isOwn(record, of: content, on: networks, now: now)
            }
        }
    }

    /// Returns true for a probe. The caller has excluded foreign probes, so the probe is from this host itself, arrived
    /// late, and needs no defence.
    private func isOwnProbe(_ question: Question, _ inbound: InboundMessage) -> Bool {
        inbound.message.authorities.contains { $0.name == question.name }
    }

    /// Returns true if less than a quarter of the answer's time to live has passed since its last multicast, so that a
    /// unicast answer suffices (§5.4).
    private func wasMulticastRecently(
        _ answer: Answer, _ inbound: InboundMessage, on network: NetworkInterface, now: Instant
    ) -> Bool {
        guard let last = queues[network.id]?.lastMulticast(of: answer, in: inbound.source.address.family),
            let timeToLive = claims.records(answer, on: network).first?.timeToLive
        else { return false }
        return now - last < .seconds(Int(timeToLive)) / 4
    }
}

/// The answers that a querier already has (RFC 6762 §7.1).
struct KnownAnswers {
    private struct Content: Hashable {
        let name: Name
        let data: RecordData
    }

    private var timesToLive: [Content: UInt32] = [:]

    init(_ records: [Record]) {
        for record in records { timesToLive[Content(name: record.name, data: record.data)] = record.timeToLive }
    }

    var isEmpty: Bool { timesToLive.isEmpty }

    /// Returns true if the querier knows every record with a remaining time to live of at least half of the original
    /// one.
    func cover(_ records: [Record]) -> Bool {
        !isEmpty && !records.isEmpty
            && records.allSatisfy { record in
                guard let known = timesToLive[Content(name: record.name, data: record.data)] else { return false }
                return UInt64(known) * 2 >= UInt64(record.timeToLive)
            }
    }
}
