import DNSWire
import ProtocolCore

/// The querier's questions and cache on one interface.
struct QuerierLink: Sendable {
    private(set) var network: NetworkInterface
    private let keepsAllRecords: Bool
    private(set) var cache = RecordCache()
    private var schedules: [QuestionKey: QuestionSchedule] = [:]
    /// Other hosts' questions. Only questions with a schedule have an entry.
    private var heard: [QuestionKey: HeardQuestion] = [:]
    /// A time before which no question is due. Nil if no question has a time.
    private var scheduleDeadline: Instant?
    /// The time of the first query of the most recent questions. Questions that start before it join the same packet.
    private var firstQuery: Instant?

    init(network: NetworkInterface, keepsAllRecords: Bool) {
        self.network = network
        self.keepsAllRecords = keepsAllRecords
    }

    /// False if no question is active here and the cache is empty.
    private var isInUse: Bool { !schedules.isEmpty || !cache.isEmpty }

    /// A time before which no question is due and no record expires or needs a refresh.
    var deadline: Instant? { sooner(scheduleDeadline, cache.deadline) }

    mutating func change(to network: NetworkInterface) { self.network = network }

    mutating func prioritize(_ name: Name, _ isFavoured: Bool) { cache.prioritize(name, isFavoured) }

    mutating func reconfirm(_ key: QuestionKey, _ data: RecordData?, now: Instant) {
        cache.reconfirm(key, data, now: now)
    }

    // MARK: Questions

    /// Returns true if the question is active.
    func isAsking(_ key: QuestionKey) -> Bool { schedules[key] != nil }

    /// Starts a question. The first query is sent after 20-120 ms, or together with the planned first query of other
    /// questions. No query is sent if the cache already has the only possible answer.
    mutating func start(_ key: QuestionKey, now: Instant, _ random: inout SeededRandom) {
        if cache.hasTheAnswer(key) {
            schedules[key] = .answered
            return
        }
        let first: Instant
        if let planned = firstQuery, planned > now {
            first = planned
        } else {
            first = now + random.duration(in: RFC6762.firstQueryDelay)
            firstQuery = first
        }
        schedules[key] = .due(first, then: RFC6762.queryInterval)
        scheduleDeadline = sooner(scheduleDeadline, first)
    }

    mutating func end(_ key: QuestionKey) {
        schedules[key] = nil
        heard[key] = nil
    }

    /// Expires and refreshes records, and restarts the questions for expired answers from the beginning.
    ///
    /// - Parameter order: the position of a question in a query.
    /// - Returns: the expired records, and the questions to send in one query.
    mutating func advance(
        now: Instant, order: (QuestionKey) -> UInt64, _ random: inout SeededRandom
    ) -> (removed: [Record], questions: [DueQuestion]) {
        let (removed, refresh) = advanceCache(now: now)
        for key in unanswered(after: removed) { start(key, now: now, &random) }
        let due = takeDueQuestions(now: now, order: order)
        guard !refresh.isEmpty else { return (removed, due) }
        let refreshed = Set(refresh)
        return (removed, refresh.map { DueQuestion($0) } + due.filter { !refreshed.contains($0.key) })
    }

    private mutating func advanceCache(now: Instant) -> (removed: [Record], refresh: [QuestionKey]) {
        let schedules = schedules
        return cache.advance(now: now) { schedules[$0] != nil }
    }

    private func unanswered(after removed: [Record]) -> [QuestionKey] {
        guard !removed.isEmpty else { return [] }
        var seen: Set<QuestionKey> = []
        // When a negative answer expires, the address questions that it answered are open again.
        let keys = removed.flatMap { record in
            (record.type == .nsec ? [.a, .aaaa] : [record.type]).map { QuestionKey(name: record.name, type: $0) }
        }
        return keys.filter { schedules[$0] == .answered && !cache.hasTheAnswer($0) && seen.insert($0).inserted }
    }

    private mutating func takeDueQuestions(now: Instant, order: (QuestionKey) -> UInt64) -> [DueQuestion] {
        guard let deadline = scheduleDeadline, deadline <= now else { return [] }
        var due: [(question: DueQuestion, order: UInt64)] = []
        var next: Instant?
        for (key, schedule) in schedules {
            switch schedule {
            case .answered:
                continue
            case .due(let time, let interval) where time <= now:
                // The past interval is half of the next one, except for the first query. At the longest interval this
                // value is too small, so fewer duplicate questions are suppressed.
                let past = max(interval / 2, RFC6762.queryInterval)
                due.append((DueQuestion(key, interval: past), order(key)))
                let longer = min(interval * 2, RFC6762.queryIntervalLimit)
                schedules[key] = .due(now + interval, then: longer)
                next = sooner(next, now + interval)
            case .due(let time, _):
                next = sooner(next, time)
            }
        }
        scheduleDeadline = next
        return due.sorted { $0.order < $1.order }.map(\.question)
    }

    /// Returns true if another host has just asked the same question (RFC 6762 §7.3).
    func wasAsked(_ question: DueQuestion, _ family: IPFamily, now: Instant) -> Bool {
        guard let last = heard[question.key]?.last(family) else { return false }
        return now - last <= question.interval * RFC6762.duplicateQuestionWindow
    }

    // MARK: Packets

    /// Handles another host's query: suppresses this host's identical questions (§7.3), and detects records whose owner
    /// no longer answers (§10.5). Only multicast questions with complete known answers count. This host also receives
    /// its own queries. They do not count as unanswered, and they do not suppress this host's next question, because
    /// the window for duplicate questions has passed by then.
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

    /// Stores a response in the cache (§6, §10).
    ///
    /// - Returns: the changes, and the names whose known SRV records were received again for an active question.
    mutating func store(
        _ inbound: InboundMessage, now: Instant, _ random: inout SeededRandom
    ) -> (changes: [CacheChange], repeated: Set<Name>) {
        // §6: the querier never requests unicast answers, so it accepts none.
        guard inbound.source.port == RFC6762.port, inbound.wasMulticast, isInUse else { return ([], []) }
        let records = inbound.message.answers + inbound.message.additionals
        let stored = store(records, now: now, jitter: Double.random(in: RFC6762.refreshJitter, using: &random))
        for record in records where record.isCacheFlush && record.timeToLive > 0 { noteAnswered(record) }
        return stored
    }

    private mutating func store(
        _ records: [Record], now: Instant, jitter: Double
    ) -> (changes: [CacheChange], repeated: Set<Name>) {
        // Without questions the cache stores no new records.
        let schedules = schedules
        var changes: [CacheChange] = []
        var repeated: Set<Name> = []
        for record in records where record.isCacheable {
            let key = QuestionKey(name: record.name, type: record.type)
            let isAsked = schedules[key] != nil
            let arrival = RecordCache.Arrival(
                now: now, jitter: jitter, keepsNew: isAsked || keepsAllRecords && !schedules.isEmpty, isAsked: isAsked)
            let news = cache.insert(record, arrival) { schedules[$0] != nil }
            if !news.isEmpty {
                changes += news
            } else if record.type == .srv, record.timeToLive > 0, arrival.isAsked {
                repeated.insert(record.name)
            }
        }
        return (changes, repeated)
    }

    private mutating func noteAnswered(_ record: Record) {
        let types: [RecordType] = record.type == .nsec ? [.a, .aaaa] : [record.type]
        for key in types.map({ QuestionKey(name: record.name, type: $0) }) {
            guard schedules[key] != nil, cache.hasTheAnswer(key) else { continue }
            schedules[key] = .answered
        }
    }
}

/// The time of a question's next query (RFC 6762 §5.2).
private enum QuestionSchedule: Hashable, Sendable {
    /// The question is sent at this time, and again after this interval.
    case due(Instant, then: Duration)
    /// The cache has the only possible answer; the question is sent again only to refresh it.
    case answered
}

extension Record {
    fileprivate var isCacheable: Bool { recordClass == .internet && type != .opt && type != .any }
}
