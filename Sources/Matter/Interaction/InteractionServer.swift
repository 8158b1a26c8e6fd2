internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// The server side of the interaction model (Matter 8): read, write, invoke, subscribe and timed interactions.
///
/// The server decodes the messages of secure sessions, checks paths and privileges, and calls the node. Its outputs are
/// messages on exchanges, which ``takeOutputs()`` returns in order.
struct InteractionServer<Node: InteractionNode>: Sendable {
    /// An output for the message layer.
    enum Output: Sendable {
        /// Sends a message. The exchange ends with it if `isLast`.
        case send(InteractionMessage, on: ExchangeID, isLast: Bool)
        /// Ends an exchange without a message.
        case close(ExchangeID)
        case notice(MatterNotice)
    }

    /// The state of an exchange between two messages.
    enum Step: Sendable {
        /// The peer must confirm a chunk of a report.
        case reporting(PendingReport)
        /// The peer must send the timed request before `until`.
        case timed(until: Instant)
        /// The peer must send the next chunk of a write.
        case writing(PendingWrite)
        /// The plug must answer commands.
        case invoking(PendingInvoke)
    }

    struct Transaction: Sendable {
        var accessor: Accessor
        var step: Step
        /// The time at which the exchange is abandoned.
        var deadline: Instant
    }

    /// The limit of exchanges that wait for a peer or the plug. It keeps exchanges free for reports of subscriptions.
    static var transactionLimit: Int { 24 }
    /// The time limit for the peer's next message. It frees exchanges whose peer acknowledges messages and then stops.
    static var peerTime: Duration { .seconds(30) }
    /// The time limit for the plug's answer to a command. Controllers do not wait longer.
    static var plugTime: Duration { .seconds(10) }

    /// The node that interactions read and change.
    var node: Node
    /// The limit of commands per request. The attribute MaxPathsPerInvoke of the node must have the same value.
    let commandLimit: Int
    /// The largest message in bytes.
    let messageLimit: Int
    var transactions: [ExchangeID: Transaction] = [:]
    var subscriptions: [UInt32: Subscription] = [:]
    var random: SeededRandom
    /// The number of the newest event that subscriptions were checked for.
    var newestEvent: UInt64?
    private var outputs: [Output] = []

    /// Creates a server without exchanges and subscriptions.
    ///
    /// - Parameter seed: the seed of subscription ids.
    init(
        _ node: Node, seed: UInt64, commandLimit: Int = 1, messageLimit: Int = MessageLayer.payloadLimit
    ) {
        (self.node, self.commandLimit, self.messageLimit) = (node, commandLimit, messageLimit)
        random = SeededRandom(seed: seed)
        newestEvent = node.events(after: nil).last?.number
    }

    /// The time at which ``expire(now:)`` and ``update(now:opening:)`` must be called, or nil if nothing waits.
    var nextDeadline: Instant? {
        let waiting = transactions.values.reduce(nil) { sooner($0, $1.deadline) }
        return subscriptions.values.reduce(waiting) { sooner($0, $1.deadline) }
    }

    /// Returns the outputs since the previous call, in order.
    mutating func takeOutputs() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    mutating func send(_ message: InteractionMessage, on exchange: ExchangeID, isLast: Bool) {
        if isLast { transactions[exchange] = nil }
        outputs.append(.send(message, on: exchange, isLast: isLast))
    }

    /// Ends an exchange with a status.
    mutating func finish(_ exchange: ExchangeID, _ code: InteractionStatusCode) {
        send(.status(code), on: exchange, isLast: true)
    }

    mutating func close(_ exchange: ExchangeID) {
        transactions[exchange] = nil
        outputs.append(.close(exchange))
    }

    mutating func report(_ notice: MatterNotice) { outputs.append(.notice(notice)) }

    // MARK: Messages

    /// Handles a message of the interaction model.
    mutating func receive(_ message: IncomingMessage, from accessor: Accessor, now: Instant) {
        let exchange = message.exchange
        let transaction = transactions[exchange]
        guard transaction != nil || message.isFirst else { return close(exchange) }
        let request: InteractionMessage
        do throws(MatterError) {
            request = try InteractionMessage(opcode: message.opcode, payload: message.payload)
        } catch {
            abandon(exchange)
            return finish(exchange, error.interactionStatus)
        }
        guard let transaction else { return begin(request, on: exchange, from: accessor, now: now) }
        switch (transaction.step, request) {
        case (.reporting(let report), .status(let code)):
            confirmed(report, code, on: exchange, now: now)
        case (.timed(let until), .write(let write)):
            guard now <= until else { return finish(exchange, .timeout) }
            self.write(write, on: exchange, from: timed(transaction.accessor), now: now)
        case (.timed(let until), .invoke(let invoke)):
            guard now <= until else { return finish(exchange, .timeout) }
            self.invoke(invoke, on: exchange, from: timed(transaction.accessor), now: now)
        case (.writing(let progress), .write(let write)):
            resume(progress, with: write, on: exchange, from: transaction.accessor, now: now)
        case (.invoking, _): break
        case (.reporting, _), (.timed, _), (.writing, _):
            abandon(exchange)
            finish(exchange, .invalidAction)
        }
    }

    private mutating func begin(
        _ request: InteractionMessage, on exchange: ExchangeID, from accessor: Accessor, now: Instant
    ) {
        guard transactions.count < Self.transactionLimit else { return finish(exchange, .busy) }
        switch request {
        case .read(let read): self.read(read, on: exchange, from: accessor, now: now)
        case .subscribe(let subscribe): self.subscribe(subscribe, on: exchange, from: accessor, now: now)
        case .write(let write): self.write(write, on: exchange, from: accessor, now: now)
        case .invoke(let invoke): self.invoke(invoke, on: exchange, from: accessor, now: now)
        case .timed(let milliseconds):
            let until = now + .milliseconds(Int64(milliseconds))
            // A late request is answered, so the exchange stays open longer than the request's time limit.
            transactions[exchange] = Transaction(
                accessor: accessor, step: .timed(until: until), deadline: max(until, now + Self.peerTime))
            send(.status(.success), on: exchange, isLast: false)
        // A status without a request has no meaning, and an answer to it could start an endless exchange of statuses.
        case .status: close(exchange)
        case .report, .subscribed, .written, .invoked: finish(exchange, .invalidAction)
        }
    }

    private func timed(_ accessor: Accessor) -> Accessor {
        var accessor = accessor
        accessor.isTimed = true
        return accessor
    }

    // MARK: Ends

    /// Handles an exchange whose message was not acknowledged, or that ended for another reason.
    mutating func failed(_ exchange: ExchangeID) {
        abandon(exchange)
        transactions[exchange] = nil
    }

    /// Handles the end of a session: its exchanges and subscriptions end.
    mutating func ended(_ session: SessionID) {
        transactions = transactions.filter { $0.value.accessor.session != session }
        subscriptions = subscriptions.filter { $0.value.accessor.session != session }
    }

    /// Abandons exchanges whose peer or plug did not answer in time.
    mutating func expire(now: Instant) {
        for (exchange, transaction) in transactions.filter({ $0.value.deadline <= now }).sorted(by: { $0.key < $1.key })
        {
            if case .invoking(let progress) = transaction.step {
                report(.commandTimedOut)
                answer(progress.timedOut, on: exchange)
            } else {
                abandon(exchange)
                close(exchange)
            }
        }
    }

    /// Ends the subscription that waits for the exchange.
    private mutating func abandon(_ exchange: ExchangeID) {
        guard case .reporting(let report)? = transactions[exchange]?.step, let id = report.subscription else { return }
        lose(id)
    }

    /// Ends a subscription whose subscriber did not confirm a report.
    mutating func lose(_ id: UInt32) {
        guard let subscription = subscriptions.removeValue(forKey: id), subscription.isActive else { return }
        report(.subscriptionLost(id: id, fabric: subscription.accessor.fabric))
    }
}

/// Opens exchanges for reports of subscriptions. ``MessageLayer`` conforms to it.
protocol ExchangeOpener {
    /// Opens an exchange as its initiator, or returns nil if this is not possible now.
    mutating func openExchange(on session: SessionID) -> ExchangeID?
}

extension MessageLayer: ExchangeOpener {}
