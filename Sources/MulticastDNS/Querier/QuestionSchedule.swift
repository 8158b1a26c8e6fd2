import DNSWire
import ProtocolCore

/// The querier's state for one interface.
struct QuerierLink: Sendable {
    var network: NetworkInterface
    var cache = RecordCache()
    var schedules: [QuestionKey: QuestionSchedule] = [:]
    /// Other hosts' questions. Only questions with a schedule have an entry.
    var heard: [QuestionKey: HeardQuestion] = [:]
    /// A time before which no question is due. Nil if no question has a time.
    var scheduleDeadline: Instant?
    /// The time of the first query of the most recent questions. Questions that start before it join the same packet.
    var firstQuery: Instant?

    init(network: NetworkInterface) { self.network = network }

    /// False if no question is active here and the cache is empty.
    var isInUse: Bool { !schedules.isEmpty || !cache.isEmpty }
}

/// The time of a question's next query (RFC 6762 §5.2).
enum QuestionSchedule: Hashable, Sendable {
    /// The question is sent at this time, and again after this interval.
    case due(Instant, then: Duration)
    /// The cache has the only possible answer; the question is sent again only to refresh it.
    case answered
}

extension Querier {
    /// Starts a question. The first query is sent after 20-120 ms, or together with the planned first query of other
    /// questions. No query is sent if the cache already has the only possible answer.
    mutating func start(_ key: QuestionKey, on interface: InterfaceID, now: Instant) {
        // Never copy the link here: each call would copy hundreds of questions.
        guard let isAnswered = links[interface]?.cache.hasTheAnswer(key) else { return }
        if isAnswered {
            links[interface]?.schedules[key] = .answered
            return
        }
        let first: Instant
        if let planned = links[interface]?.firstQuery, planned > now {
            first = planned
        } else {
            first = now + random.duration(in: RFC6762.firstQueryDelay)
            links[interface]?.firstQuery = first
        }
        links[interface]?.schedules[key] = .due(first, then: RFC6762.queryInterval)
        let earliest = sooner(links[interface]?.scheduleDeadline, first)
        links[interface]?.scheduleDeadline = earliest
    }

    /// Expires and refreshes records, and sends all due questions in one query.
    mutating func advance(_ interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let schedules = links[interface]?.schedules,
            let (removed, refresh) = links[interface]?.cache.advance(now: now, isAsked: { schedules[$0] != nil })
        else { return }
        if !removed.isEmpty {
            actions.append(.changed(interface, removed.map { .removed($0) }))
            // The question for an expired answer restarts from the beginning.
            for key in unanswered(after: removed, on: interface) { start(key, on: interface, now: now) }
        }
        let refreshed = Set(refresh)
        let due = takeDueQuestions(interface, now: now).filter { !refreshed.contains($0.key) }
        let questions = refresh.map { DueQuestion($0) } + due
        if !questions.isEmpty { sendQuery(questions, on: interface, now: now, &actions) }
    }

    private func unanswered(after removed: [Record], on interface: InterfaceID) -> [QuestionKey] {
        guard let link = links[interface] else { return [] }
        var seen: Set<QuestionKey> = []
        // When a negative answer expires, the address questions that it answered are open again.
        let keys = removed.flatMap { record in
            (record.type == .nsec ? [.a, .aaaa] : [record.type]).map { QuestionKey(name: record.name, type: $0) }
        }
        return keys.filter {
            link.schedules[$0] == .answered && !link.cache.hasTheAnswer($0) && seen.insert($0).inserted
        }
    }

    private mutating func takeDueQuestions(_ interface: InterfaceID, now: Instant) -> [DueQuestion] {
        guard let link = links[interface], let deadline = link.scheduleDeadline, deadline <= now else { return [] }
        var due: [(question: DueQuestion, order: UInt64)] = []
        var next: Instant?
        for (key, schedule) in link.schedules {
            switch schedule {
            case .answered:
                continue
            case .due(let time, let interval) where time <= now:
                // The past interval is half of the next one, except for the first query. At the longest interval this
                // value is too small, so fewer duplicate questions are suppressed.
                let past = max(interval / 2, RFC6762.queryInterval)
                due.append((DueQuestion(key, interval: past), order(of: key, on: interface)))
                let longer = min(interval * 2, RFC6762.queryIntervalLimit)
                links[interface]?.schedules[key] = .due(now + interval, then: longer)
                next = sooner(next, now + interval)
            case .due(let time, _):
                next = sooner(next, time)
            }
        }
        links[interface]?.scheduleDeadline = next
        return due.sorted { $0.order < $1.order }.map(\.question)
    }

    private func order(of key: QuestionKey, on interface: InterfaceID) -> UInt64 {
        min(
            asks[Ask(key: key, interface: nil)]?.order ?? .max, asks[Ask(key: key, interface: interface)]?.order ?? .max
        )
    }
}
