import DNSWire
import ProtocolCore

/// Answers queries (RFC 6762 §6): selects the answers, their time and their receiver.
extension Responder {
    mutating func answer(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let message = inbound.message
        let family = inbound.source.address.family
        guard let network = attachments[inbound.interface]?.network, network.families.contains(family),
            // Most questions on a link concern other hosts and need no further work.
            attachments[inbound.interface]?.hasAnswers(family) == true
                || message.questions.contains(where: { owners[$0.name] != nil })
        else { return }
        let known = KnownAnswers(message.answers)
        suppressQueued(known, inbound)
        if message.questions.isEmpty, message.flags.contains(.truncated) {
            let until = now + random.duration(in: RFC6762.truncatedAnswerDelay)
            attachments[inbound.interface]?.changeQueues(of: family) { $0.hold(for: inbound.source, until: until) }
            return
        }
        var selected: Set<Answer> = []
        var unicast: Set<Answer> = []
        var hasProbe = false
        for question in message.questions where owners[question.name] != nil {
            let answers = answers(to: question, on: inbound.interface).filter {
                inbound.source.isLegacy || !known.cover(records($0, on: network))
            }
            if isForeignProbe(question, inbound, now: now) {
                hasProbe = hasProbe || !answers.isEmpty
            } else if isOwnProbe(question, inbound) {
                continue
            }
            selected.formUnion(answers)
            if question.wantsUnicast || !inbound.wasMulticast { unicast.formUnion(answers) }
        }
        guard !selected.isEmpty else { return }
        if inbound.source.isLegacy {
            answerLegacy(selected.sorted(), inbound, &actions)
            return
        }
        // §5.4: a question that requests a unicast answer gets one, unless the last multicast was long ago. A probe
        // always gets one, and the answer is also multicast. Another responder on this host gets multicast only: it
        // shares our port, and the kernel might deliver a unicast answer to our own socket instead.
        if network.addresses.contains(where: { $0.address == inbound.source.address }) { unicast = [] }
        let recent = unicast.filter { wasMulticastRecently($0, inbound, now: now) }
        reply((hasProbe ? unicast : recent).sorted(), inbound, isDefence: hasProbe, now: now)
        schedule(selected.subtracting(recent).sorted(), inbound, isDefence: hasProbe, now: now)
    }

    /// Queues a unicast answer by the same timing rules as a multicast one (§5.4): random delays prevent many hosts
    /// from answering at once.
    private mutating func reply(_ answers: [Answer], _ inbound: InboundMessage, isDefence: Bool, now: Instant) {
        guard !answers.isEmpty else { return }
        let window = window(for: answers, inbound, isDefence: isDefence, now: now)
        let isHeld = inbound.message.flags.contains(.truncated) && !isDefence
        let isQueued = attachments[inbound.interface]?.reply(
            answers, to: inbound.source, window: window, isHeld: isHeld)
        if isQueued == false { schedule(answers, inbound, isDefence: isDefence, now: now) }
    }

    private mutating func schedule(_ answers: [Answer], _ inbound: InboundMessage, isDefence: Bool, now: Instant) {
        guard !answers.isEmpty else { return }
        let window = window(for: answers, inbound, isDefence: isDefence, now: now)
        let isHeld = inbound.message.flags.contains(.truncated) && !isDefence
        let interval = isDefence ? RFC6762.defenceInterval : RFC6762.multicastInterval
        attachments[inbound.interface]?.changeGroupQueue(of: inbound.source.address.family) { queue in
            for answer in answers {
                queue.enqueue(
                    answer, window: window, asker: isDefence ? nil : inbound.source, interval: interval, isHeld: isHeld)
            }
        }
    }

    /// Returns the time window of an answer. §6: immediately if no other host can answer and the query has only one
    /// question, otherwise after a random delay. §7.2: later if more known answers are announced. §8.1: immediately to
    /// stop a probe.
    private mutating func window(
        for answers: [Answer], _ inbound: InboundMessage, isDefence: Bool, now: Instant
    ) -> ClosedRange<Instant> {
        if isDefence { return now...now }
        if inbound.message.flags.contains(.truncated) {
            let due = now + random.duration(in: RFC6762.truncatedAnswerDelay)
            return due...due
        }
        if inbound.message.questions.count == 1 && answers.allSatisfy(\.isUnique) { return now...now }
        return now...(now + random.duration(in: RFC6762.sharedAnswerDelay))
    }

    /// Returns the answers for which this host is authoritative on this interface.
    private func answers(to question: Question, on interface: InterfaceID) -> [Answer] {
        guard question.recordClass == .internet || question.recordClass == .any,
            let network = attachments[interface]?.network
        else { return [] }
        var answers: [Answer] = []
        for id in owners[question.name] ?? [] where isClaimed(id, on: interface) {
            guard let content = groups[id]?.content else { continue }
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

    func records(_ answer: Answer, on network: NetworkInterface) -> [Record] {
        groups[answer.group]?.content.records(answer.slot, on: network) ?? []
    }

    /// Returns true for a question with proposed records for its name, at least one of which is not ours.
    private func isForeignProbe(_ question: Question, _ inbound: InboundMessage, now: Instant) -> Bool {
        let proposed = inbound.message.authorities.filter { $0.name == question.name }
        return proposed.contains { record in
            (owners[question.name] ?? []).contains { id in
                groups[id].map { $0.content.name == question.name && !isOwn(record, of: $0.content, now: now) } ?? false
            }
        }
    }

    /// Returns true for a probe. The caller has excluded foreign probes, so it is one of our own, received late, and
    /// needs no defence.
    private func isOwnProbe(_ question: Question, _ inbound: InboundMessage) -> Bool {
        inbound.message.authorities.contains { $0.name == question.name }
    }

    /// Returns true if less than a quarter of the answer's time to live has passed since its last multicast, so that a
    /// unicast answer suffices (§5.4).
    private func wasMulticastRecently(_ answer: Answer, _ inbound: InboundMessage, now: Instant) -> Bool {
        guard let attachment = attachments[inbound.interface],
            let last = attachment.queues[inbound.source.address.family]?.lastMulticast(of: answer),
            let timeToLive = records(answer, on: attachment.network).first?.timeToLive
        else { return false }
        return now - last < .seconds(Int(timeToLive)) / 4
    }

    /// Removes queued answers that the asker knows. Known answers may continue in packets without a question (§7.2).
    private mutating func suppressQueued(_ known: KnownAnswers, _ inbound: InboundMessage) {
        guard !known.isEmpty, let network = attachments[inbound.interface]?.network else { return }
        let groups = groups
        attachments[inbound.interface]?.changeQueues(of: inbound.source.address.family) { queue in
            queue.suppress(for: inbound.source) { answer in
                known.cover(groups[answer.group]?.content.records(answer.slot, on: network) ?? [])
            }
        }
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
