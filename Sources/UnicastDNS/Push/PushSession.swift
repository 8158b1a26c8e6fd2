import DNSWire
import DequeModule
import ProtocolCore

/// One session with a push server (RFC 8490, RFC 8765): negotiates the timeouts, subscribes to questions and keeps
/// their records up to date.
///
/// The records of a new subscription arrive in any number of messages, and no message is marked as the last one. They
/// are reported when the server has sent none for a moment, so that known records are not missing in between. Later
/// changes are collected for a shorter time, because one change of a service consists of several records.
///
/// A session without subscriptions ends at once, so that the inactivity timeout of the server needs no timer.
struct PushSession: LiveSession {
    private struct Subscription {
        enum Phase: Hashable {
            /// The request waits for its response.
            case requested
            /// The first records arrive.
            case settling
            case live
        }

        let question: Question
        var phase = Phase.requested
        var records = PushedRecords()
    }

    private enum Request {
        case keepalive, subscribe
    }

    /// The limit of subscriptions. Further questions wait until a subscription ends.
    static let subscriptionLimit = 1024
    /// The limit of records of one subscription.
    static let recordLimit = 2000
    /// The limit of the memory of all records in bytes.
    static let byteLimit = 4 << 20
    /// The time to wait for a response.
    static let answerTimeout = Duration.seconds(15)
    /// The limit of received messages, in units of one message and 1 KiB: a burst, which permits the first records of
    /// all subscriptions, and a rate per second.
    static let messageBurst = 8192
    static let messageRate = 64
    /// The interval that the client requests, in milliseconds. An hour is the recommendation (RFC 8490 §6.5.2).
    static let requestedInterval: UInt32 = 3_600_000
    /// The shortest interval that a server may require, in milliseconds (RFC 8490 §7.1).
    static let shortestInterval: UInt32 = 10_000
    /// The time without a message after which the first records are complete, and the limit of this time.
    static let settlingTime = Duration.seconds(1)
    static let longestSettling = Duration.seconds(60)
    /// The time for which changes are collected.
    static let collectingTime = Duration.milliseconds(20)

    /// The time at which the connection was opened.
    let start: Instant
    private let zone: Name
    private var isOpen = false
    /// The followed questions of the zone, without ``rejected``.
    private var wanted: Set<Question> = []
    /// The followed questions that the server rejected, or that have too many records.
    private var rejected: Set<Question> = []
    /// The followed questions without a subscription. Questions that are no longer wanted are skipped.
    private var waiting: Deque<Question> = []
    /// The subscriptions by the identifiers of their requests.
    private var subscriptions: [UInt16: Subscription] = [:]
    private var identifiers: [Question: UInt16] = [:]
    private var byteCount = 0
    private var requests: [UInt16: Request] = [:]
    private var lastIdentifier: UInt16 = 0
    /// The live subscriptions whose records changed.
    private var changed: Set<UInt16> = []
    private var bucket = TokenBucket(burst: messageBurst, interval: .seconds(1) / messageRate)
    /// The interval between two messages of the client without other messages; nil if none is required.
    private var interval: Duration?
    private var lastMessage: Instant
    /// The reason why the last rejected question has no subscription.
    private var rejection: PushFailure?
    private var answersUntil: Instant?
    private var settlesAt: Instant?
    private var settlesUntil: Instant?
    private var reportsAt: Instant?
    private var output: [LiveOutput] = []

    /// Starts a session over a connection that was opened now.
    init(zone: Name, now: Instant) {
        self.zone = zone
        start = now
        lastMessage = now
        requestTimeouts(now: now)
    }

    /// The questions that the session answers.
    var liveQuestions: [Question] { subscriptions.values.filter { $0.phase == .live }.map(\.question) }

    /// The time of the next ``runDueTimers(now:)``.
    var nextDeadline: Instant? {
        sooner(sooner(answersUntil, settlesAt), sooner(reportsAt, interval.map { lastMessage + $0 }))
    }

    /// Returns the outputs since the last call.
    mutating func takeOutput() -> [LiveOutput] {
        defer { output = [] }
        return output
    }

    /// Subscribes to a question. If the session answers it already, its records are reported again.
    mutating func follow(_ question: Question, now: Instant) {
        guard question.name.isInside(zone), !rejected.contains(question) else { return }
        if let id = identifiers[question], let known = subscriptions[id], known.phase == .live {
            output.append(.updated(question, known.records.all))
        }
        guard wanted.insert(question).inserted else { return }
        waiting.append(question)
        subscribe(now: now)
    }

    /// Ends the subscription to a question.
    mutating func unfollow(_ question: Question, now: Instant) {
        wanted.remove(question)
        rejected.remove(question)
        if let id = identifiers[question] { unsubscribe(id, now: now) }
        subscribe(now: now)
    }

    /// Handles a whole message of the server. After an error the session has ended.
    mutating func receive(_ bytes: [UInt8], now: Instant) throws(PushFailure) {
        guard bucket.take(1 + bytes.count >> 10, now: now) else { throw .flood }
        lastMessage = now
        let message: StatefulMessage
        do throws(WireError) { message = try StatefulMessage(decoding: bytes) } catch { throw .malformed(error) }
        if message.isResponse {
            try receiveResponse(message, now: now)
        } else if message.id == 0 {
            try receiveNotice(message, now: now)
        } else {
            // The client knows no requests of servers.
            send(StatefulMessage(id: message.id, isResponse: true, code: StatefulMessage.unknownOperation), now: now)
        }
        subscribe(now: now)
        if let rejection, wanted.isEmpty { throw rejection }
    }

    /// Performs the work that is due. After an error the session has ended.
    mutating func runDueTimers(now: Instant) throws(PushFailure) {
        if let answersUntil, answersUntil <= now { throw .noAnswer }
        if let settlesAt, settlesAt <= now {
            self.settlesAt = nil
            settlesUntil = nil
            for (id, subscription) in subscriptions where subscription.phase == .settling {
                subscriptions[id]?.phase = .live
                changed.insert(id)
            }
            reportsAt = now
        }
        if let reportsAt, reportsAt <= now {
            self.reportsAt = nil
            // A removed service must not be reported as one that lost its attributes, so lists come first.
            let reported = changed.compactMap { subscriptions[$0] }.sorted { $0.question.precedes($1.question) }
            output += reported.map { .updated($0.question, $0.records.all) }
            changed = []
        }
        if let interval, lastMessage + interval <= now { requestTimeouts(now: now) }
    }

    private mutating func send(_ message: StatefulMessage, now: Instant) {
        // The longest message has one name.
        guard let bytes = try? message.encoded() else { return }
        output.append(.send(bytes))
        lastMessage = now
    }

    private mutating func request(_ request: Request, _ item: StatefulItem, now: Instant) -> UInt16 {
        repeat {
            lastIdentifier &+= 1
        } while lastIdentifier == 0 || requests[lastIdentifier] != nil || subscriptions[lastIdentifier] != nil
        requests[lastIdentifier] = request
        answersUntil = answersUntil ?? now + Self.answerTimeout
        send(StatefulMessage(id: lastIdentifier, items: [item]), now: now)
        return lastIdentifier
    }

    private mutating func requestTimeouts(now: Instant) {
        // The limit of subscriptions leaves identifiers for unanswered requests, whose number the timeout limits.
        _ = request(
            .keepalive, .keepalive(inactivity: Self.requestedInterval, interval: Self.requestedInterval), now: now)
    }

    /// Subscribes to the waiting questions, up to the limit.
    private mutating func subscribe(now: Instant) {
        guard isOpen else { return }
        while requests.count + subscriptions.count < Self.subscriptionLimit, let question = waiting.popFirst() {
            guard wanted.contains(question), identifiers[question] == nil else { continue }
            let id = request(.subscribe, .subscribe(question), now: now)
            subscriptions[id] = Subscription(question: question)
            identifiers[question] = id
        }
    }

    private mutating func unsubscribe(_ id: UInt16, now: Instant) {
        remove(id)
        send(StatefulMessage(items: [.unsubscribe(id)]), now: now)
    }

    private mutating func remove(_ id: UInt16) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        identifiers[subscription.question] = nil
        byteCount -= subscription.records.byteCount
        changed.remove(id)
    }

    /// Excludes a question until the end of the session.
    private mutating func reject(_ question: Question, _ reason: PushFailure) {
        wanted.remove(question)
        rejected.insert(question)
        rejection = reason
        output.append(.rejected(question))
    }

    private mutating func receiveResponse(_ message: StatefulMessage, now: Instant) throws(PushFailure) {
        guard let request = requests.removeValue(forKey: message.id) else { throw .unexpectedMessage }
        answersUntil = requests.isEmpty ? nil : now + Self.answerTimeout
        switch (request, message.code) {
        case (.keepalive, 0):
            guard case .keepalive(_, let interval)? = message.items.first else { throw .unexpectedMessage }
            try require(interval)
            isOpen = true
        case (.subscribe, 0): settle(message.id, now: now)
        case (.subscribe, let code)
        where ![StatefulMessage.notImplemented, StatefulMessage.unknownOperation].contains(code):
            guard let question = subscriptions[message.id]?.question else { break }
            remove(message.id)
            reject(question, failure(message, code: code))
        case (_, let code): throw failure(message, code: code)
        }
    }

    private func failure(_ response: StatefulMessage, code: UInt16) -> PushFailure {
        for case .retryDelay(let delay) in response.items { return .busy(.milliseconds(Int64(delay))) }
        return .rejected(code: code)
    }

    private mutating func require(_ interval: UInt32) throws(PushFailure) {
        guard interval >= Self.shortestInterval else { throw .unexpectedMessage }
        self.interval = interval == StatefulItem.forever ? nil : .milliseconds(Int64(interval))
    }

    /// Handles a message that has no response.
    private mutating func receiveNotice(_ message: StatefulMessage, now: Instant) throws(PushFailure) {
        switch message.items.first {
        case .push(let changes):
            guard isOpen else { throw .unexpectedMessage }
            for change in changes { apply(change, now: now) }
        case .keepalive(_, let interval): try require(interval)
        case .retryDelay(let delay): throw .busy(.milliseconds(Int64(delay)))
        default: throw .unexpectedMessage
        }
    }

    /// Waits for the first records of a subscription.
    private mutating func settle(_ id: UInt16, now: Instant) {
        guard subscriptions[id]?.phase == .requested else { return }
        subscriptions[id]?.phase = .settling
        extendSettling(now: now)
    }

    private mutating func extendSettling(now: Instant) {
        let until = settlesUntil ?? now + Self.longestSettling
        settlesUntil = until
        settlesAt = min(until, now + Self.settlingTime)
    }

    /// Applies a change to the subscriptions that it belongs to. Other changes are ignored: the subscription may have
    /// ended while the message was on its way.
    private mutating func apply(_ change: RecordChange, now: Instant) {
        switch change {
        case .add(let record) where record.recordClass == .internet:
            // The records of an alias belong to a different name, which the resolver follows.
            let types = record.type == .cname ? Self.types : [record.type]
            for id in identifiers(record.name, types) {
                if record.type == .cname {
                    abandon(id, now: now)
                } else {
                    update(id, now: now) { $0.insert(record) }
                }
            }
        case .remove(let record) where record.recordClass == .internet:
            for id in identifiers(record.name, [record.type]) { update(id, now: now) { $0.remove(record.data) } }
        case .removeAll(let question) where [.internet, .any].contains(question.recordClass):
            let types = question.type == .any ? Self.types : [question.type]
            for id in identifiers(question.name, types) { update(id, now: now) { $0.removeAll() } }
        case .add, .remove, .removeAll: break
        }
    }

    /// The types of the questions of a browser.
    private static let types: [RecordType] = [.ptr, .srv, .txt, .a, .aaaa]

    private func identifiers(_ name: Name, _ types: [RecordType]) -> [UInt16] {
        types.compactMap { identifiers[Question(name: name, type: $0)] }
    }

    private mutating func update(_ id: UInt16, now: Instant, _ change: (inout PushedRecords) -> Bool) {
        guard var subscription = subscriptions.removeValue(forKey: id) else { return }
        let before = subscription.records.byteCount
        let isNews = change(&subscription.records)
        byteCount += subscription.records.byteCount - before
        subscriptions[id] = subscription
        guard subscription.records.count <= Self.recordLimit, byteCount <= Self.byteLimit else {
            return abandon(id, now: now)
        }
        switch subscription.phase {
        case .requested: break
        case .settling: extendSettling(now: now)
        case .live where isNews:
            changed.insert(id)
            reportsAt = reportsAt ?? now + Self.collectingTime
        case .live: break
        }
    }

    /// Leaves a question to the resolver.
    private mutating func abandon(_ id: UInt16, now: Instant) {
        guard let question = subscriptions[id]?.question else { return }
        unsubscribe(id, now: now)
        reject(question, .tooManyRecords)
    }
}
