import Crypto
import DequeModule
import JSONText
import PlugModel
import ProtocolCore

/// Decides which requests from the broker are carried out or rejected, and routes their answers.
struct RequestBook: Sendable {
    enum Deed: Sendable {
        case command(PlugCommand, id: RequestID, within: Duration)
        case update
        case replay(after: SequenceNumber)
    }

    enum Outcome: Sendable {
        case begun(BrokerTicket, PlugID, Deed)
        case refused(Refusal)
    }

    /// The limit of simultaneous requests. It bounds the memory during a flood, and has room for one request to each
    /// plug of a house with up to 128 plugs.
    static let limit = 128
    /// The maximum average number of requests per second.
    private static let rate = 50.0
    /// The longest lifetime of a command. The expiry of its message and its `until` can shorten the lifetime.
    static let commandAge = Duration.seconds(10)

    private struct Asked: Sendable {
        var plug: PlugID
        var topic: String?
        var correlation: [UInt8]?
    }

    private let tree: TopicTree
    private let takesCommands: Bool
    private let updatesSystems: Bool
    private var random: SeededRandom
    private var asked: [BrokerTicket: Asked] = [:]
    private var last: BrokerTicket = 0
    private var answers: Deque<Publication> = []
    private var allowance = Double(limit)
    private var countedAt: Instant?

    init(_ tree: TopicTree, takesCommands: Bool, updatesSystems: Bool, random: SeededRandom) {
        self.tree = tree
        self.takesCommands = takesCommands
        self.updatesSystems = updatesSystems
        self.random = random
    }

    /// Handles a message. Returns nil if it is not a request to a plug of this house.
    mutating func handle(_ message: BrokerMessage, isKnown: (PlugID) -> Bool, now: Instant) -> Outcome? {
        guard let (plug, request) = tree.request(in: message.topic) else { return nil }
        let topic = message.responseTopic.flatMap { tree.isAnswer($0) ? $0 : nil }
        let asked = Asked(plug: plug, topic: topic, correlation: message.correlation)
        do throws(Refusal) {
            try admit(now)
            guard !message.isRetained else {
                throw Refusal(.deadlinePassed, "a retained message is not a command; publish it without retain")
            }
            guard message.responseTopic == nil || topic != nil else {
                throw Refusal(.unsupported, "the response topic must begin with \(tree.answers)")
            }
            guard isKnown(plug) else { throw Refusal(.unknown, "no plug of this house has the id \(plug)") }
            let deed = try deed(request, message, plug)
            last += 1
            self.asked[last] = asked
            return .begun(last, plug, deed)
        } catch {
            answer(asked, CommandOutcome.refused(error).answer(of: plug))
            return .refused(error)
        }
    }

    mutating func answered(_ ticket: BrokerTicket, _ outcome: CommandOutcome) {
        guard let asked = asked.removeValue(forKey: ticket) else { return }
        answer(asked, outcome.answer(of: asked.plug))
    }

    /// Answers a request for an update.
    ///
    /// - Parameter refusal: nil if the update begins, or waits for its turn.
    mutating func updateAnswered(_ ticket: BrokerTicket, _ refusal: Refusal?) {
        guard let asked = asked.removeValue(forKey: ticket) else { return }
        var text = JSONObject()
        text.add("plug", asked.plug.rawValue)
        text.add("done", true)
        answer(asked, refusal.map { CommandOutcome.refused($0).answer(of: asked.plug) } ?? text.text)
    }

    /// Answers a request for missed events.
    ///
    /// - Parameter events: the messages of events, in order.
    mutating func replayed(_ ticket: BrokerTicket, _ events: [String], hasMore: Bool) {
        guard let asked = asked.removeValue(forKey: ticket) else { return }
        var text = JSONObject()
        text.add("plug", asked.plug.rawValue)
        text.add("done", true)
        text.add("events", json: "[" + events.joined(separator: ",") + "]")
        text.add("more", hasMore)
        answer(asked, text.text)
    }

    mutating func takeAnswer() -> Publication? { answers.popFirst() }

    /// Drops the waiting answers after the connection ended.
    mutating func forgetAnswers() { answers = [] }

    private mutating func answer(_ asked: Asked, _ text: String) {
        guard let topic = asked.topic, answers.count < Self.limit else { return }
        answers.append(Publication(topic, text, isRetained: false, correlation: asked.correlation))
    }

    private mutating func admit(_ now: Instant) throws(Refusal) {
        let passed = countedAt.map { (now - $0).inSeconds } ?? 0
        countedAt = now
        allowance = min(Double(Self.limit), allowance + passed * Self.rate)
        guard allowance >= 1, asked.count < Self.limit else {
            throw Refusal(.busy, "too many requests; try again in a second")
        }
        allowance -= 1
    }

    private mutating func deed(
        _ request: TopicTree.Request, _ message: BrokerMessage, _ plug: PlugID
    ) throws(Refusal) -> Deed {
        guard request == .set else {
            return .replay(after: try understood { () throws(TopicError) in try TopicReplay(message.payload) }.after)
        }
        guard takesCommands else {
            throw Refusal(.notAllowed, "this house does not accept commands from its broker")
        }
        let command = try understood { () throws(TopicError) in try TopicCommand(message.payload) }
        var left = Self.commandAge.inSeconds
        if let expiry = message.expiry { left = min(left, Double(expiry)) }
        if let until = command.until {
            guard let at = message.at else {
                throw Refusal(.unsupported, "the clock is not set, so \"until\" cannot be checked; leave it out")
            }
            left = min(left, until - at)
        }
        guard left > 0 else { throw Refusal(.deadlinePassed, "the command has expired") }
        switch command.deed {
        case .command(let command): return .command(command, id: id(of: message, plug), within: .seconds(left))
        case .update:
            guard updatesSystems else {
                throw Refusal(
                    .unsupported, "clients of the broker may not update plugs; updates.toml of the daemon may allow it")
            }
            return .update
        }
    }

    private func understood<Request>(_ read: () throws(TopicError) -> Request) throws(Refusal) -> Request {
        do throws(TopicError) { return try read() } catch { throw Refusal(.outOfRange, error.description) }
    }

    /// Derives the id from the plug's id, the correlation data and the payload. Repeated messages then are the same
    /// command, which the plug executes only once. Without correlation data the id is random.
    private mutating func id(of message: BrokerMessage, _ plug: PlugID) -> RequestID {
        guard let correlation = message.correlation, !correlation.isEmpty else { return RequestID(drawnFrom: &random) }
        var hash = SHA256()
        for part in [Array(plug.rawValue.utf8), correlation, message.payload] {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        guard let id = RequestID(bytes: hash.finalize().prefix(16)) else {
            preconditionFailure("a digest has more than 16 bytes")
        }
        return id
    }
}

extension CommandOutcome {
    /// Returns the answer to a command as JSON.
    fileprivate func answer(of plug: PlugID) -> String {
        var answer = JSONObject()
        answer.add("plug", plug.rawValue)
        switch self {
        case .done(let state, let event):
            answer.add("done", true)
            answer.add("on", state.relayOn)
            if let level = state.level { answer.add("level", level.percent) }
            if let event { answer.add("seq", event) }
        case .refused(let refusal):
            answer.add("done", false)
            answer.add("reason", refusal.code.rawValue)
            answer.add("detail", refusal.detail)
        }
        return answer.text
    }
}
