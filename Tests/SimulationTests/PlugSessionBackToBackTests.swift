import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

/// Both session machines, connected by two pipes that deliver one byte at a time.
struct BackToBack {
    static let connection = ConnectionID(rawValue: 1)
    var server: PlugServer
    var session = ControllerSession(name: "Desk")
    var updates: [SessionUpdate] = []
    private var toPlug: [UInt8] = []
    private var toController: [UInt8] = []
    let now = Instant(nanoseconds: 1_000_000_000)

    init(boundary: SequenceNumber) {
        server = PlugServer(
            identity: PlugServer.Identity(
                id: PlugID(rawValue: "0123456789ab")!, name: "Lampe über dem Tisch", capabilities: [.relay],
                firmware: "1.0", boot: BootID(bytes: [UInt8](repeating: 1, count: 16))!),
            access: .knowing(), journal: EventJournal(nextSequence: boundary), state: PlugState(relayOn: false))
    }

    mutating func plug(_ event: PlugServer.Event) {
        for action in server.handle(event, now: now) {
            switch action {
            case .shell(.send(_, let bytes)): toController += bytes
            case .perform(let request, let name, .setRelay(let on, _), _):
                plug(
                    .record(
                        .relayChanged(
                            on: on,
                            cause: .controller(name: name, request: request.request, authority: request.authority))))
                plug(.stateChanged(PlugState(relayOn: on)))
                plug(.commandOutcome(request, .done(server.state, event: nil)))
            case .perform(let request, _, _, _):
                plug(.commandOutcome(request, .done(server.state, event: nil)))
            case .fetch(let connection, let fetch, _, _):
                plug(.samples(connection, fetch: fetch, chunk: [1, 2, 3], next: nil))
            case .record(let kind): plug(.record(kind))
            case .fetchAudit(let connection, _, _): plug(.audit(connection, AuditPage([], isLast: true)))
            case .keepCode: plug(.codeKept(nil))
            case .shell, .keep, .factoryReset: break
            }
        }
    }

    mutating func controller(_ event: ControllerSession.Event) {
        for action in session.handle(event, now: now) {
            switch action {
            case .send(let bytes): toPlug += bytes
            case .close: break
            case .deliver(let update): updates.append(update)
            }
        }
    }

    /// Delivers bytes one by one, alternating between both sides, until both pipes are empty.
    mutating func exchange() {
        while !toPlug.isEmpty || !toController.isEmpty {
            if !toPlug.isEmpty { plug(.shell(.received(Self.connection, [toPlug.removeFirst()]))) }
            if !toController.isEmpty { controller(.received([toController.removeFirst()])) }
        }
    }
}

@Suite struct PlugSessionBackToBackTests {
    @Test("A session that is delivered byte by byte yields the expected updates")
    func aWholeSessionByteByByte() {
        var pair = BackToBack(boundary: 10)
        let request = RequestID(bytes: 0..<16)!
        pair.plug(.record(.restarted(powerLost: true)))
        pair.plug(.shell(.opened(PlugServer.Opening(BackToBack.connection))))
        pair.controller(.connected)
        pair.controller(.subscribe(SubscriptionOptions(events: .after(3))))
        pair.controller(.command(request, .setRelay(on: true, autoOff: nil), deadline: .zero + .seconds(9)))
        pair.controller(.fetchSamples(6, from: .zero, to: .zero + .seconds(1)))
        pair.exchange()
        pair.plug(.record(.buttonPressed(.double)))
        pair.plug(.stop)
        pair.exchange()

        guard case .welcomed(let plug) = pair.updates.first else {
            Issue.record("no Welcome")
            return
        }
        #expect(plug.name == "Lampe über dem Tisch")
        func event(_ sequence: SequenceNumber, _ kind: PlugEvent.Kind) -> SessionUpdate {
            .event(PlugEvent(sequence: sequence, boot: plug.boot, time: pair.now, kind: kind), age: .zero)
        }
        let on = PlugState(relayOn: true)
        #expect(
            pair.updates.dropFirst() == [
                .subscribed(next: 11, gap: Gap(from: 4, to: 9, reason: .powerLost)),
                .snapshot(PlugState(relayOn: false)),
                event(10, .restarted(powerLost: true)),
                event(
                    11, .relayChanged(on: true, cause: .controller(name: "Desk", request: request, authority: .desk))),
                .state(on),
                .commandFinished(request, .done(on, event: 11)),
                .samples(fetch: 6, chunk: [1, 2, 3], last: true),
                event(12, .buttonPressed(.double)),
                .ended(.endedByPeer(Goodbye(.stopping, "The plug is stopping; it may return soon."))),
            ])
    }

    @Test("2,000 events catch up in order when delivered byte by byte")
    func thousandsOfEventsCatchUpByteByByte() {
        var pair = BackToBack(boundary: 1)
        for _ in 0..<2000 { pair.plug(.record(.buttonPressed(.single))) }
        pair.plug(.shell(.opened(PlugServer.Opening(BackToBack.connection))))
        pair.controller(.connected)
        pair.controller(.subscribe(SubscriptionOptions(events: .after(0), state: nil)))
        pair.exchange()
        while pair.server.nextDeadline == pair.now {
            pair.plug(.deadlineReached)
            pair.exchange()
        }
        let sequences = pair.updates.compactMap { update -> SequenceNumber? in
            guard case .event(let event, _) = update else { return nil }
            return event.sequence
        }
        #expect(sequences == Array(1...2000))
    }
}
