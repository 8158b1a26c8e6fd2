import DNSWire
import ProtocolCore

/// What the queries of other hosts tell: a question that need not be asked again (RFC 6762 §7.3), and an answer that did not
/// come (§10.5).
extension QuerierLink {
    /// Only what is asked of everybody and whose known answers are complete. Our own packets come back too: they say nothing
    /// that the times do not rule out.
    mutating func hear(_ inbound: InboundMessage, now: Instant) {
        let message = inbound.message
        guard isInUse, inbound.wasMulticast, !inbound.source.isLegacy, !message.flags.contains(.truncated),
            message.authorities.isEmpty
        else { return }
        let known = KnownAnswers(message.answers)
        for question in message.questions where question.recordClass == .internet && !question.wantsUnicast {
            let key = QuestionKey(name: question.name, type: question.type)
            cache.noteQuery(key, now: now) { known.cover([$0]) }
            guard schedules[key] != nil else { continue }
            // Whoever knows more than we do gets fewer answers than we need.
            let ours = cache.knownAnswers(key, now: now)
            let theirs = message.answers.filter { question.isAnswered(by: $0) }
            guard theirs.allSatisfy({ their in ours.contains { $0.hasSameContent(as: their) } }) else { continue }
            heard[key, default: HeardQuestion()].note(inbound.source.address.family, now: now)
        }
    }

    /// True when another host has just asked the same.
    func wasAsked(_ question: DueQuestion, _ family: IPFamily, now: Instant) -> Bool {
        guard let last = heard[question.key]?.last(family) else { return false }
        return now - last <= question.interval * RFC6762.duplicateQuestionWindow
    }
}

/// When another host asked a question of ours last, in each family.
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
    /// Since it was asked last; for a new one and for a refresh, the shortest there is.
    let interval: Duration

    init(_ key: QuestionKey, interval: Duration = RFC6762.queryInterval) {
        self.key = key
        self.interval = interval
    }
}
