import DNSWire
import ProtocolCore

/// Uses other hosts' queries to suppress this host's identical questions (RFC 6762 §7.3), and to detect records whose
/// owner no longer answers (§10.5).
extension QuerierLink {
    /// Handles another host's query. Only multicast questions with complete known answers count. This host also
    /// receives its own queries. They do not count as unanswered, and they do not suppress this host's next question,
    /// because the window for duplicate questions has passed by then.
    mutating func hear(_ inbound: InboundMessage, now: Instant) {
        let message = inbound.message
        guard isInUse, inbound.wasMulticast, !inbound.source.isLegacy, !message.flags.contains(.truncated),
            message.authorities.isEmpty
        else { return }
        let isOwn = network.addresses.contains { $0.address == inbound.source.address }
        let known = KnownAnswers(message.answers)
        for question in message.questions where question.recordClass == .internet && !question.wantsUnicast {
            let key = QuestionKey(name: question.name, type: question.type)
            if !isOwn { cache.noteQuery(key, now: now) { known.cover([$0]) } }
            guard schedules[key] != nil else { continue }
            // If the other host lists a known answer that this host lacks, the responses omit it. This host must then
            // ask the question itself.
            let ours = cache.knownAnswers(key, now: now)
            let theirs = message.answers.filter { question.isAnswered(by: $0) }
            guard theirs.allSatisfy({ their in ours.contains { $0.hasSameContent(as: their) } }) else { continue }
            heard[key, default: HeardQuestion()].note(inbound.source.address.family, now: now)
        }
    }

    /// Returns true if another host has just asked the same question.
    func wasAsked(_ question: DueQuestion, _ family: IPFamily, now: Instant) -> Bool {
        guard let last = heard[question.key]?.last(family) else { return false }
        return now - last <= question.interval * RFC6762.duplicateQuestionWindow
    }
}

/// The times of the latest identical question from another host, per family.
struct HeardQuestion: Hashable, Sendable {
    private var v4: Instant?
    private var v6: Instant?

    mutating func note(_ family: IPFamily, now: Instant) {
        switch family {
        case .v4: v4 = now
        case .v6: v6 = now
        }
    }

    func last(_ family: IPFamily) -> Instant? {
        switch family {
        case .v4: v4
        case .v6: v6
        }
    }
}

/// A question that is due.
struct DueQuestion: Hashable {
    let key: QuestionKey
    /// The time since the question was last asked. New questions and refreshes use the shortest interval.
    let interval: Duration

    init(_ key: QuestionKey, interval: Duration = RFC6762.queryInterval) {
        self.key = key
        self.interval = interval
    }
}
