import Metering
import PlugProtocol
import ProtocolCore
import SimulatedLAN

/// A plug on the simulated LAN: the plug's side of the protocol, a relay and a button, and the storage of a board.
struct PlugHost {
    /// Survives a loss of power.
    struct Flash {
        /// Numbers below it may have been used.
        var boundary: SequenceNumber = 1
        var relayOn = false
    }

    static let port: UInt16 = 7000
    static let reserved: SequenceNumber = 16

    let ring: Int
    var flash = Flash()
    /// Survives a restart of the process, not of the board.
    var journal: EventJournal?
    /// Lives as long as the process.
    private(set) var server: PlugServer?
    private var streams: [ConnectionID: StreamID] = [:]
    private(set) var boot = BootID(bytes: [UInt8](repeating: 0, count: 16))!
    private var nextReading: Instant?
    /// Every event that ever got a number, for the test.
    private(set) var history: [SequenceNumber: PlugEvent] = [:]
    private(set) var lastSequence: SequenceNumber = 0

    init(ring: Int) { self.ring = ring }

    var nextDeadline: Instant? { sooner(server?.nextDeadline, nextReading) }

    mutating func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start): return [.listen(port: Self.port)] + begin(start, now: now)
        case .accepted(let stream, _, let peer):
            streams[id(stream)] = stream
            return perform(.opened(id(stream), peer: "\(peer)"), now: now)
        case .received(let stream, let bytes): return perform(.received(id(stream), bytes), now: now)
        case .writable(let stream, let writable): return perform(.writable(id(stream), writable), now: now)
        case .closed(let stream, _): return perform(.closed(id(stream)), now: now)
        case .stimulus(.press): return press(now: now)
        case .deadlineReached: return perform(.deadlineReached, now: now) + readIfDue(now: now)
        case .stimulus(.command), .interfaceUp, .interfaceDown, .datagram, .connected, .wallClockStepped: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private mutating func begin(_ start: Start, now: Instant) -> [HostAction] {
        boot = BootID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: start.boot >> ($0 % 8 * 8)) })!
        let limits = EventJournal.Limits(events: ring)
        if start.cause == .powerOn {
            journal = EventJournal(nextSequence: flash.boundary, lossBefore: .powerLost, limits: limits)
        }
        let identity = PlugServer.Identity(
            id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .button, .meter],
            firmware: "1.0", boot: boot)
        server = PlugServer(
            identity: identity, journal: journal!, state: PlugState(relayOn: flash.relayOn))
        nextReading = now
        return record(.restarted(powerLost: start.cause == .powerOn), now: now)
    }

    /// Gives an event its number; the boundary moves in flash before a number beyond it is used.
    private mutating func record(_ kind: PlugEvent.Kind, now: Instant) -> [HostAction] {
        let next = server!.journal.nextSequence
        if next >= flash.boundary { flash.boundary = next + Self.reserved }
        history[next] = PlugEvent(sequence: next, boot: boot, time: now, kind: kind)
        lastSequence = next
        return perform(.record(kind), now: now)
    }

    private mutating func setRelay(_ on: Bool, _ cause: RelayCause, now: Instant) -> [HostAction] {
        guard flash.relayOn != on else { return [] }
        flash.relayOn = on
        var state = server!.state
        state.relayOn = on
        return record(.relayChanged(on: on, cause: cause), now: now) + perform(.stateChanged(state), now: now)
    }

    private mutating func press(now: Instant) -> [HostAction] {
        record(.buttonPressed(.single), now: now) + setRelay(!flash.relayOn, .button, now: now)
    }

    private mutating func readIfDue(now: Instant) -> [HostAction] {
        guard let due = nextReading, due <= now else { return [] }
        nextReading = now + .seconds(2)
        var state = server!.state
        state.reading = Reading(
            time: now, deciwatts: Int32(now.nanoseconds / 1_000_000_000 % 900),
            milliwattHours: UInt64(now.nanoseconds / 1_000_000))
        return perform(.stateChanged(state), now: now)
    }

    /// Hands an event to the server and does what it says, the commands at once.
    private mutating func perform(_ event: PlugServer.Event, now: Instant) -> [HostAction] {
        guard let actions = server?.handle(event, now: now) else { return [] }
        journal = server?.journal
        var out: [HostAction] = []
        for action in actions {
            switch action {
            case .send(let connection, let bytes): out.append(.write(streams[connection]!, bytes))
            case .close(let connection, _): out.append(.close(streams[connection]!))
            case .perform(let request, let controller, let command, _):
                if case .setRelay(let on, _) = command {
                    out += setRelay(on, .controller(name: controller, request: request), now: now)
                }
                out += perform(.commandOutcome(request, .done(server!.state, event: nil)), now: now)
            case .fetch(let connection, let fetch, _, _):
                out += perform(.samples(connection, fetch: fetch, chunk: [], next: nil), now: now)
            }
        }
        return out
    }
}

enum HouseStimulus: Sendable {
    case press
    case command(on: Bool)
}
