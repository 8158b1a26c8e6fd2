import DNSWire
import DequeModule
import ProtocolCore

/// Questions that are asked again when their answers expire, with the latest answers. After a failure, the records of a
/// question remain, and it is asked again after a pause. A question whose records a server pushes is not asked.
struct PolledQuestions: Sendable {
    /// A request to the resolver.
    enum Request: Hashable, Sendable {
        case ask(QueryID, Question)
        case cancel(QueryID)
        /// The question is new. Its records may be pushed.
        case follow(Question)
        /// The question was dropped.
        case unfollow(Question)
    }

    private struct Poll {
        enum State: Hashable {
            /// The question is asked as soon as fewer than ``PolledQuestions/limit`` wait for answers.
            case queued
            case asking(QueryID)
            case waiting(until: Instant)
            /// A server pushes the records.
            case pushed
        }

        var state = State.queued
        var records: [Record] = []
        /// The time until which the last answer of the resolver may be in a cache.
        var expires = Instant.zero
        /// The shortest time to live of the pushed records in seconds.
        var lifetime: UInt32 = 0
        /// The failures since the last answer.
        var failures = 0
        /// True from the first answer or failure.
        var wasAsked = false
    }

    /// The limit of questions that wait for answers.
    static let limit = 64
    /// The interval between two equal questions, whatever the time to live.
    static let interval = shortestInterval...Duration.seconds(3600)
    private static let shortestInterval = Duration.seconds(10)
    /// The interval after the first failure, which doubles after each further one up to `longestPause`.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(320)

    private var polls: [Question: Poll] = [:]
    private var asking: [QueryID: Question] = [:]
    /// The queued questions in their order. A question that was dropped or asked meanwhile is skipped.
    private var queue: Deque<Question> = []
    private var nextQuery: UInt64
    private var requests: [Request] = []
    /// The time of the next question, or an earlier time.
    private(set) var nextDeadline: Instant?

    /// - Parameter firstQuery: the first of the ids that the questions use.
    init(firstQuery: QueryID) { nextQuery = firstQuery.rawValue }

    /// The records of the last answer; empty before the first one.
    func records(_ question: Question) -> [Record] { polls[question]?.records ?? [] }

    /// True if the question was answered or failed.
    func wasAsked(_ question: Question) -> Bool { polls[question]?.wasAsked == true }

    /// Adds questions; those that exist already are unchanged.
    mutating func add(_ questions: some Sequence<Question>) {
        for question in questions.ordered where polls[question] == nil {
            polls[question] = Poll()
            queue.append(question)
            requests.append(.follow(question))
        }
    }

    /// Drops all questions that are not in the set, and adds those that are new.
    mutating func replace(with questions: Set<Question>) {
        for question in polls.keys.filter({ !questions.contains($0) }).ordered {
            requests.append(.unfollow(question))
            guard case .asking(let id)? = polls.removeValue(forKey: question)?.state else { continue }
            asking[id] = nil
            requests.append(.cancel(id))
        }
        add(questions)
    }

    /// Asks all questions again, except those that wait for an answer.
    mutating func refresh() {
        for question in polls.keys.ordered {
            guard case .waiting = polls[question]?.state else { continue }
            polls[question]?.state = .queued
            queue.append(question)
        }
    }

    /// Drops all questions.
    mutating func removeAll() { replace(with: []) }

    /// Handles an answer. Returns the question if its records changed or if this is its first answer, and the error if
    /// it has no answer.
    mutating func handle(
        _ result: Result<ResolvedRecords, ResolverError>, to id: QueryID, now: Instant
    ) -> (question: Question, isNews: Bool, failure: ResolverError?)? {
        guard let question = asking.removeValue(forKey: id), var poll = polls[question] else { return nil }
        let (records, wasAsked) = (poll.records, poll.wasAsked)
        poll.wasAsked = true
        let until: Instant
        var failure: ResolverError?
        switch result {
        case .success(let answer):
            poll.records = answer.records
            poll.expires = answer.expires
            poll.failures = 0
            until = Self.next(answer.expires, now: now)
        case .failure(let error):
            failure = error
            until = now + min(Self.firstPause * (1 << min(poll.failures, 9)), Self.longestPause)
            poll.failures += 1
        }
        poll.state = .waiting(until: until)
        polls[question] = poll
        nextDeadline = min(nextDeadline ?? until, until)
        return (question, !wasAsked || poll.records != records, failure)
    }

    /// Handles all records of a question that a server pushes. Returns true if they differ from the known ones, or if
    /// they are the first answer.
    mutating func handlePushed(_ records: [Record], for question: Question) -> Bool {
        guard var poll = polls[question] else { return false }
        if case .asking(let id) = poll.state {
            asking[id] = nil
            requests.append(.cancel(id))
        }
        // The order and the remaining lifetime of pushed records differ from those of an answer.
        let isNews = !poll.wasAsked || Set(poll.records.map(\.data)) != Set(records.map(\.data))
        if isNews { poll.records = records }
        poll.lifetime = records.map(\.timeToLive).min() ?? 0
        poll.state = .pushed
        poll.wasAsked = true
        poll.failures = 0
        polls[question] = poll
        return isNews
    }

    /// Asks a question again when its records, which were pushed until now, expire. An earlier answer that the resolver
    /// has in its cache expires before, so that it does not replace them.
    mutating func poll(_ question: Question, now: Instant) {
        guard let poll = polls[question], poll.state == .pushed else { return }
        let until = Self.next(max(poll.expires, now + .seconds(Int64(poll.lifetime))), now: now)
        polls[question]?.state = .waiting(until: until)
        nextDeadline = min(nextDeadline ?? until, until)
    }

    private static func next(_ expires: Instant, now: Instant) -> Instant {
        now + min(max(expires - now, interval.lowerBound), interval.upperBound)
    }

    /// Returns the requests to send now: those for due and queued questions, within the limit.
    mutating func takeRequests(now: Instant) -> [Request] {
        if let deadline = nextDeadline, deadline <= now { queueDue(now: now) }
        while asking.count < Self.limit, let question = queue.popFirst() {
            guard polls[question]?.state == .queued else { continue }
            let id = QueryID(rawValue: nextQuery)
            nextQuery += 1
            polls[question]?.state = .asking(id)
            asking[id] = question
            requests.append(.ask(id, question))
        }
        defer { requests = [] }
        return requests
    }

    private mutating func queueDue(now: Instant) {
        nextDeadline = nil
        for question in polls.keys.ordered {
            guard case .waiting(let until)? = polls[question]?.state else { continue }
            if until <= now {
                polls[question]?.state = .queued
                queue.append(question)
            } else {
                nextDeadline = min(nextDeadline ?? until, until)
            }
        }
    }
}

extension Question {
    /// Orders questions: lists of services first, then by name and type, so that a run repeats exactly.
    func precedes(_ other: Question) -> Bool {
        let (isList, isOtherList) = (type == .ptr, other.type == .ptr)
        guard isList == isOtherList else { return isList }
        return name == other.name ? type < other.type : name.bytes.lexicographicallyPrecedes(other.name.bytes)
    }
}

extension Sequence<Question> {
    /// The questions in a fixed order.
    var ordered: [Question] { sorted { $0.precedes($1) } }
}
