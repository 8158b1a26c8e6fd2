import DNSWire
import ProtocolCore

/// An interface as the querier sees it.
struct QuerierLink: Sendable {
    var network: NetworkInterface
    var cache = RecordCache()
    var schedules: [QuestionKey: QuestionSchedule] = [:]
    /// Only of questions that have a schedule.
    var heard: [QuestionKey: HeardQuestion] = [:]
    /// No question is due before this.
    var scheduleDeadline: Instant?
    /// When the questions that began last are asked first: what begins until then joins them in the same packet.
    var firstQuery: Instant?

    init(network: NetworkInterface) { self.network = network }

    /// False when nobody asks anything here and nothing is kept.
    var isInUse: Bool { !schedules.isEmpty || !cache.isEmpty }
}

/// When a question is asked next (RFC 6762 §5.2).
enum QuestionSchedule: Hashable, Sendable {
    case due(Instant, then: Duration)
    /// The cache has the one answer there can be; it is asked again only to refresh it.
    case answered
}

extension Querier {
    /// The first query waits 20-120 ms, unless the answer is at hand and is the only one there can be.
    mutating func start(_ key: QuestionKey, on interface: InterfaceID, now: Instant) {
        guard let link = links[interface] else { return }
        if link.cache.hasTheAnswer(key) {
            links[interface]?.schedules[key] = .answered
            return
        }
        let first: Instant
        if let planned = link.firstQuery, planned > now {
            first = planned
        } else {
            first = now + random.duration(in: RFC6762.firstQueryDelay)
            links[interface]?.firstQuery = first
        }
        links[interface]?.schedules[key] = .due(first, then: RFC6762.queryInterval)
        links[interface]?.scheduleDeadline = sooner(link.scheduleDeadline, first)
    }

    /// Expires and refreshes records, and asks every question that is due, all in one query.
    mutating func advance(_ interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let schedules = links[interface]?.schedules,
            let (removed, refresh) = links[interface]?.cache.advance(now: now, isAsked: { schedules[$0] != nil })
        else { return }
        if !removed.isEmpty {
            actions.append(.changed(interface, removed.map { .removed($0) }))
            // An answer that is gone is asked for again from the beginning.
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
        // When a negative answer goes, the addresses that it denied are open again.
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
                // The interval that is over is half of the one that begins, but for the first two queries.
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
