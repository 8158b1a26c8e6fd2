import DNSWire
import DequeModule
import ProtocolCore

/// Questions that are asked again when their answers expire, with the latest answers. After a failure, the records of a
/// question remain, and it is asked again after a pause.
struct PolledQuestions: Sendable {
    /// A request to the resolver.
    enum Request: Hashable, Sendable {
        case ask(QueryID, Question)
        case cancel(QueryID)
    }

    private struct Poll {
        enum State: Hashable {
            /// The question is asked as soon as fewer than ``PolledQuestions/limit`` wait for answers.
            case queued
            case asking(QueryID)
            case waiting(until: Instant)
        }

        var state = State.queued
        var records: [Record] = []
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
    private static let firstPause = Duration.seconds(10)
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
        for question in ordered(questions) where polls[question] == nil {
            polls[question] = Poll()
            queue.append(question)
        }
    }

    /// Drops all questions that are not in the set, and adds those that are new.
    mutating func replace(with questions: Set<Question>) {
        for question in ordered(polls.keys.filter { !questions.contains($0) }) {
            guard case .asking(let id)? = polls.removeValue(forKey: question)?.state else { continue }
            asking[id] = nil
            requests.append(.cancel(id))
        }
        add(questions)
    }

    /// Asks all questions again, except those that wait for an answer.
    mutating func refresh() {
        for question in ordered(polls.keys) {
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
            poll.failures = 0
            until = now + min(max(answer.expires - now, Self.interval.lowerBound), Self.interval.upperBound)
        case .failure(let error):
            failure = error
            until = now + min(Self.firstPause * (1 << min(poll.failures, 5)), Self.longestPause)
            poll.failures += 1
        }
        poll.state = .waiting(until: until)
        polls[question] = poll
        nextDeadline = min(nextDeadline ?? until, until)
        return (question, !wasAsked || poll.records != records, failure)
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
        for question in ordered(polls.keys) {
            guard case .waiting(let until)? = polls[question]?.state else { continue }
            if until <= now {
                polls[question]?.state = .queued
                queue.append(question)
            } else {
                nextDeadline = min(nextDeadline ?? until, until)
            }
        }
    }

    /// Orders questions, so that a run repeats exactly.
    private func ordered(_ questions: some Sequence<Question>) -> [Question] {
        questions.sorted {
            $0.name == $1.name ? $0.type < $1.type : $0.name.bytes.lexicographicallyPrecedes($1.name.bytes)
        }
    }
}
