import PlugProtocol
import ProtocolCore

@testable import PlugClient

let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
let lamp = PlugServer.Identity(
    id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .button], firmware: "1.0", boot: boot)
let turnOn = PlugCommand.setRelay(on: true, autoOff: nil)

func request(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }

/// A follower and a plug's server back to back, in virtual time and with a wire that is instant; the test says when the
/// connection is made and when it breaks.
struct FollowedBench {
    var follower: PlugFollower
    var server = PlugServer(
        identity: lamp, journal: EventJournal(nextSequence: 10), state: PlugState(relayOn: false))
    var now = Instant.zero
    var updates: [PlugUpdate] = []
    /// How often the follower asked for a connection, and when.
    var attempts: [Instant] = []
    /// What the plug was asked to carry out.
    var performed: [RequestID] = []
    /// The plug answers its commands.
    var answers = true
    private(set) var connection: ConnectionID?
    private var connections: UInt64 = 0

    init(cursor: SequenceNumber? = nil, seed: UInt64 = 1) {
        follower = PlugFollower(
            controllerName: "Desk", cursor: cursor, stateOptions: StateOptions(), seed: seed)
    }

    mutating func feed(_ event: PlugFollower.Event) {
        for action in follower.handle(event, now: now) {
            switch action {
            case .connect: attempts.append(now)
            case .send(let bytes, let id):
                if id == connection { serve(.received(id, bytes)) }
            case .close(let id): close(id)
            case .deliver(let update): updates.append(update)
            }
        }
    }

    mutating func serve(_ event: PlugServer.Event) { perform(server.handle(event, now: now)) }

    private mutating func perform(_ actions: [PlugServer.Action]) {
        for action in actions {
            switch action {
            case .send(let id, let bytes):
                if id == connection { feed(.received(bytes, on: id)) }
            case .close(let id, _): close(id)
            case .perform(let id, let controller, _, _):
                performed.append(id)
                guard answers else { continue }
                serve(.record(.relayChanged(on: true, cause: .controller(name: controller, request: id))))
                serve(.commandOutcome(id, .done(PlugState(relayOn: true), event: nil)))
            case .fetch(let id, let fetch, _, _): serve(.samples(id, fetch: fetch, chunk: [], next: nil))
            }
        }
    }

    /// The attempt succeeds.
    mutating func connect() {
        connections += 1
        let id = ConnectionID(rawValue: connections)
        connection = id
        let greeting = server.handle(.opened(id, peer: "test"), now: now)
        feed(.opened(id))
        perform(greeting)
    }

    mutating func locateAndConnect() {
        feed(.located)
        connect()
    }

    /// The connection breaks without a word.
    mutating func breakConnection() {
        guard let id = connection else { return }
        close(id)
    }

    private mutating func close(_ id: ConnectionID) {
        guard id == connection else { return }
        connection = nil
        serve(.closed(id))
        feed(.closed(id))
    }

    /// Runs both at their own deadlines.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = sooner(follower.nextDeadline, server.nextDeadline), deadline <= end {
            now = max(now, deadline)
            if let due = follower.nextDeadline, due <= now { feed(.deadlineReached) }
            if let due = server.nextDeadline, due <= now { serve(.deadlineReached) }
        }
        now = end
    }

    mutating func press() { serve(.record(.buttonPressed(.single))) }

    // MARK: What was heard, in short

    var sequences: [SequenceNumber] {
        updates.compactMap { if case .event(let event, _) = $0 { event.sequence } else { nil } }
    }
    var gaps: [Gap] { updates.compactMap { if case .gap(let gap) = $0 { gap } else { nil } } }
    var outcomes: [RequestID: CommandOutcome] {
        var outcomes: [RequestID: CommandOutcome] = [:]
        for case .commandFinished(let id, let outcome) in updates { outcomes[id] = outcome }
        return outcomes
    }
    var retries: [Duration] {
        updates.compactMap { if case .disconnected(_, let retry) = $0 { retry } else { nil } }
    }
    var reasons: [String] {
        updates.compactMap { if case .disconnected(let reason, _) = $0 { reason } else { nil } }
    }
}
