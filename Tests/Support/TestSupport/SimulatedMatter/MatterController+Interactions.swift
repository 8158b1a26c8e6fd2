import MatterSessions
import MatterWire
import ProtocolCore

/// A request of the interaction model that this controller has begun.
struct Interaction: Sendable {
    var ticket: MatterTicket
    var session: SessionID
    /// The message that follows a timed request; nil after it was sent.
    var postponed: InteractionMessage?
    var attributes: [AttributeReport] = []
    var events: [EventReport] = []
    var replies: [InvokeReply] = []
    var subscription: UInt32?
}

extension MatterController {
    mutating func start(
        _ message: InteractionMessage, _ timeout: Duration?, _ ticket: MatterTicket, now: Instant
    ) {
        guard let session, let exchange = messages.openExchange(on: session.id) else {
            return finish(ticket, .failure(.noSession), now: now)
        }
        var interaction = Interaction(ticket: ticket, session: session.id)
        if let timeout {
            interaction.postponed = message
            interactions[exchange] = interaction
            let milliseconds = timeout.wholeNanoseconds / 1_000_000
            send(.timed(milliseconds: UInt16(clamping: milliseconds)), on: exchange, isLast: false, now: now)
        } else {
            interactions[exchange] = interaction
            send(message, on: exchange, isLast: false, now: now)
        }
    }

    private mutating func send(
        _ message: InteractionMessage, on exchange: ExchangeID, isLast: Bool, now: Instant
    ) {
        let outputs = messages.send(
            MatterProtocol.interactionModel, message.opcode, message.encoded, on: exchange, isLast: isLast, now: now)
        handle(outputs, now: now)
    }

    mutating func handleInteraction(_ message: IncomingMessage, now: Instant) {
        let parsed: InteractionMessage
        do {
            parsed = try InteractionMessage(opcode: message.opcode, payload: message.payload)
        } catch {
            malformedMessages += 1
            if let ticket = interactions[message.exchange]?.ticket {
                finish(ticket, .failure(.invalid("\(error)")), now: now)
            }
            return
        }
        if message.exchange == rawExchange {
            rawAnswers.append(parsed)
            return
        }
        guard let interaction = interactions[message.exchange] else {
            if case .report(let report) = parsed { handleReport(report, message.exchange, now: now) }
            return
        }
        answer(parsed, interaction, message.exchange, now: now)
    }

    private mutating func answer(
        _ message: InteractionMessage, _ old: Interaction, _ exchange: ExchangeID, now: Instant
    ) {
        var interaction = old
        switch message {
        case .status(.success):
            guard let postponed = interaction.postponed else {
                return finish(interaction.ticket, .failure(.invalid("a success without an answer")), now: now)
            }
            interaction.postponed = nil
            interactions[exchange] = interaction
            send(postponed, on: exchange, isLast: false, now: now)
        case .status(let code): finish(interaction.ticket, .failure(.status(code)), now: now)
        case .report(let report):
            interaction.attributes += report.attributes
            interaction.events += report.events
            interaction.subscription = report.subscription
            interactions[exchange] = interaction
            let isEnd = !report.hasMore && report.subscription == nil
            if isEnd { interactions[exchange] = nil }
            if !report.suppressesResponse {
                send(.status(.success), on: exchange, isLast: isEnd, now: now)
            } else if isEnd {
                handle(messages.close(exchange, now: now), now: now)
            }
            guard isEnd else { return }
            finish(interaction.ticket, .success(.read(interaction.attributes, interaction.events)), now: now)
        case .subscribed(let id, let maxInterval):
            guard id == interaction.subscription else {
                return finish(interaction.ticket, .failure(.invalid("an unknown subscription")), now: now)
            }
            subscriptions[id] = Subscription(
                attributes: interaction.attributes, events: interaction.events, lastReport: now)
            finish(interaction.ticket, .success(.subscribed(id: id, maxInterval: maxInterval)), now: now)
        case .written(let statuses): finish(interaction.ticket, .success(.written(statuses)), now: now)
        case .invoked(let response):
            interaction.replies += response.responses
            interactions[exchange] = interaction
            guard !response.hasMore else { return send(.status(.success), on: exchange, isLast: false, now: now) }
            finish(interaction.ticket, .success(.invoked(interaction.replies)), now: now)
        case .read, .subscribe, .write, .invoke, .timed:
            finish(interaction.ticket, .failure(.invalid("a request as an answer")), now: now)
        }
    }

    /// Handles a report of a subscription, which the device has begun.
    private mutating func handleReport(_ report: ReportData, _ exchange: ExchangeID, now: Instant) {
        guard let id = report.subscription, var subscription = subscriptions[id] else {
            return send(.status(.invalidSubscription), on: exchange, isLast: true, now: now)
        }
        subscription.attributes += report.attributes
        subscription.events += report.events
        if !report.hasMore { subscription.reports += 1 }
        subscription.lastReport = now
        subscriptions[id] = subscription
        guard report.suppressesResponse else {
            return send(.status(.success), on: exchange, isLast: !report.hasMore, now: now)
        }
        if !report.hasMore { handle(messages.close(exchange, now: now), now: now) }
    }
}
