import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

@testable import PlugClient

let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
let lamp = PlugServer.Identity(
    id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .button], firmware: "1.0", boot: boot)
let turnOn = PlugCommand.setRelay(on: true, autoOff: nil)

/// Returns the id of the command from the controller "Desk" whose request id repeats this byte.
func command(_ number: UInt8) -> CommandID { CommandID(request(number), of: .desk) }

func request(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }

/// A follower and a plug's server that are directly connected, in virtual time and without delay. The test decides when
/// connections are made and when they break.
struct FollowedBench {
    var follower: PlugFollower
    var server = PlugServer(
        identity: lamp, access: .knowing(), journal: EventJournal(nextSequence: 10), state: PlugState(relayOn: false))
    var now = Instant.zero
    var updates: [PlugUpdate] = []
    /// The commands' outcomes, in order.
    private(set) var finished: [(RequestID, CommandOutcome)] = []
    /// The parts of fetches, in order.
    private(set) var samples: [(fetch: UInt32, chunk: [UInt8], last: Bool)] = []
    private(set) var refusedFetches: [UInt32: Refusal] = [:]
    /// The samples with which the plug answers fetches.
    var store = SampleStore()
    /// The times at which the follower requested a connection.
    var attempts: [Instant] = []
    /// The number of requested connections that were neither made nor refused.
    private(set) var unansweredAttempts = 0
    /// The commands that the plug was requested to execute.
    var performed: [RequestID] = []
    /// True if the plug can write a factory reset to its flash.
    var isFlashWritable = true
    /// True if the plug answers commands.
    var answers = true
    /// The number of sample chunks after which the connection breaks; nil for never.
    var breakAfterChunks: Int?
    /// The newest connection, unless it is closed.
    private(set) var connection: ConnectionID?
    /// The connections that neither side has closed, and the silent ones, which deliver nothing.
    private(set) var open: Set<ConnectionID> = []
    private var cut: Set<ConnectionID> = []
    /// The plug's answers to requests for the paired controllers.
    var controllers: [[PairedControllerEntry]] = []
    /// The plug's reports about itself: its name and settings. The name is nil at the beginning of a session.
    private(set) var descriptions: [(name: String?, settings: RemoteSettings?)] = []
    private var connections: UInt64 = 0

    init(
        cursor: Cursor? = .now, known: [PlugID: SequenceNumber] = [:], states: StateOptions? = StateOptions(),
        seed: UInt64 = 1
    ) {
        follower = PlugFollower(
            controllerName: "Desk", cursor: cursor, known: known, stateOptions: states, seed: seed)
    }

    /// Passes an event to the follower and performs the actions.
    mutating func feed(_ event: PlugFollower.Event) {
        for action in follower.handle(event, now: now) {
            switch action {
            case .connect:
                attempts.append(now)
                unansweredAttempts += 1
            case .send(let bytes, let id):
                if delivers(id) { serve(.shell(.received(id, bytes))) }
            case .close(let id): close(id)
            case .deliver(let update): updates.append(update)
            case .finished(let id, let outcome): finished.append((id, outcome))
            case .samples(let fetch, let chunk, _, let last): samples.append((fetch, chunk, last))
            case .answer(.controllers(let list)): controllers.append(list)
            case .answer, .nextKey: break
            case .described(let name, _, let settings): descriptions.append((name, settings))
            case .fetchRefused(let fetch, let refusal): refusedFetches[fetch] = refusal
            }
        }
    }

    /// Passes an event to the plug and performs the actions.
    mutating func serve(_ event: PlugServer.Event) { perform(server.handle(event, now: now)) }

    private mutating func perform(_ actions: [PlugServer.Action]) {
        for action in actions {
            switch action {
            case .shell(.send(let id, let bytes)):
                if delivers(id) { feed(.received(bytes, on: id)) }
            case .shell(.close(let id, _)): if delivers(id) { close(id) }
            case .perform(let id, let controller, _, _):
                performed.append(id.request)
                guard answers else { continue }
                serve(
                    .record(
                        .relayChanged(
                            on: true, cause: .controller(name: controller, request: id.request, authority: .desk))))
                serve(.commandOutcome(id, .done(PlugState(relayOn: true), event: nil)))
            case .fetch(let id, let fetch, let from, let to): answer(id, fetch, from, to)
            case .record(let kind): serve(.record(kind))
            case .factoryReset: serve(isFlashWritable ? .factoryReset : .resetFailed)
            case .shell, .fetchAudit, .keep, .keepCode: break
            }
        }
    }

    /// Answers a fetch like the firmware.
    private mutating func answer(_ id: ConnectionID, _ fetch: UInt32, _ from: Instant, _ to: Instant) {
        if let left = breakAfterChunks {
            breakAfterChunks = left > 0 ? left - 1 : nil
            if left == 0 { return breakConnection() }
        }
        let found = store.chunks(from: from, through: to)
        let next = found.first.map { Instant(nanoseconds: ($0.lastMilliseconds + 1) * 1_000_000) }
        serve(.samples(id, fetch: fetch, chunk: found.first?.bytes ?? [], next: found.count > 1 ? next : nil))
    }

    /// Drops everything on the open connections from now on, without notifying either side.
    mutating func cutWire() { cut = open }

    /// Delivers what is sent on the open connections from now on.
    mutating func mendWire() { cut = [] }

    private func delivers(_ id: ConnectionID) -> Bool { open.contains(id) && !cut.contains(id) }

    mutating func measure(watts: Double) { perform(server.measure(watts: watts, at: now)) }

    /// Makes the connection that the follower requested.
    mutating func connect() {
        connections += 1
        unansweredAttempts -= 1
        let id = ConnectionID(rawValue: connections)
        connection = id
        open.insert(id)
        let greeting = server.handle(.shell(.opened(PlugServer.Opening(id))), now: now)
        feed(.opened(id))
        perform(greeting)
    }

    /// Answers the follower's request for a connection with a failure.
    mutating func refuse() {
        unansweredAttempts -= 1
        feed(.failed(.away("refused")))
    }

    mutating func locateAndConnect() {
        feed(.located)
        connect()
    }

    /// Closes the connection without a Goodbye.
    mutating func breakConnection() {
        guard let id = connection else { return }
        close(id)
    }

    private mutating func close(_ id: ConnectionID) {
        guard open.remove(id) != nil else { return }
        if id == connection { connection = open.subtracting(cut).max { $0.rawValue < $1.rawValue } }
        serve(.shell(.closed(id)))
        feed(.closed(id))
    }

    /// Advances the time and delivers the deadlines of both sides.
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

    // MARK: Received updates

    var sequences: [SequenceNumber] {
        updates.compactMap { if case .event(let event, _) = $0 { event.sequence } else { nil } }
    }
    /// The event numbers that the follower reported as starts of following: the first delivered event has the next
    /// number.
    var beginnings: [SequenceNumber] {
        updates.compactMap { if case .following(let sequence) = $0 { sequence } else { nil } }
    }
    var watts: [Double] {
        updates.compactMap {
            switch $0 {
            case .snapshot(let state), .state(let state): state.reading?.activePower
            case .connected, .following, .event, .gap, .log, .disconnected: nil
            }
        }
    }
    var gaps: [Gap] { updates.compactMap { if case .gap(let gap) = $0 { gap } else { nil } } }
    var outcomes: [RequestID: CommandOutcome] { Dictionary(finished) { _, last in last } }
    var retries: [Duration] {
        updates.compactMap { if case .disconnected(_, let retry) = $0 { retry } else { nil } }
    }
    var reasons: [String] {
        updates.compactMap { if case .disconnected(let reason, _) = $0 { "\(reason)" } else { nil } }
    }
}

extension PlugServer {
    @discardableResult
    mutating func measure(watts: Double, at now: Instant) -> [PlugServer.Action] {
        let reading = Reading(time: now, deciwatts: Int32((watts * 10).rounded()), milliwattHours: 0)
        return handle(.stateChanged(PlugState(relayOn: false, reading: reading)), now: now)
    }
}
