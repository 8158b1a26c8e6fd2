import CMallocStatistics
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

/// Measures how much the allocated memory grows while 64 subscribers of a plug's server follow 36,000 events in virtual
/// time. One subscriber stops reading.
func stalledSubscriberFigure() -> Figure {
    var house = SubscribedServer(subscribers: 64)
    house.record(events: 1)
    let before = allocatedBytes()
    house.stall()
    house.record(events: 36_000)
    let after = allocatedBytes()
    return Figure(
        "memory after 36000 events, 64 subscribers, one stalled", max(0, Double(after - before)) / 1e6, "MB more",
        .atMost(2))
}

/// The size of an event on the wire.
enum EventFrame {
    /// The mean number of bytes of an event, for relay and button events in turn.
    static var meanBytes: Int {
        var house = SubscribedServer(subscribers: 1)
        let before = house.receivedBytes
        house.record(events: 1000)
        return (house.receivedBytes - before) / 1000
    }
}

/// A plug's server and the sessions of its subscribers, connected without delay.
private struct SubscribedServer {
    private static let limits = {
        var limits = PlugServer.Limits()
        (limits.connections, limits.connectionsOfController) = (64, 64)
        return limits
    }()
    private var server = PlugServer(
        identity: PlugServer.Identity(
            id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .button], firmware: "1.0",
            boot: BootID(bytes: [UInt8](repeating: 1, count: 16))!),
        access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false), limits: limits)
    private var sessions: [ConnectionID: ControllerSession] = [:]
    private var stalled: ConnectionID?
    private var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var receivedBytes = 0

    init(subscribers: UInt64) {
        for number in 1...subscribers {
            let id = ConnectionID(rawValue: number)
            sessions[id] = ControllerSession(name: "Controller \(number)")
            serve(.shell(.opened(PlugServer.Opening(id))))
            control(id, .connected)
            control(id, .subscribe(SubscriptionOptions(events: .fromNow)))
        }
    }

    /// Stops the reading of one subscriber, as if its connection's buffer were full.
    mutating func stall() {
        let id = ConnectionID(rawValue: 1)
        serve(.shell(.writable(id, false)))
        stalled = id
    }

    /// Records events 1 ms apart and delivers them to all subscribers except the stalled one. 36,000 events take less
    /// time than the timeout of the stalled connection.
    mutating func record(events: Int) {
        for number in 0..<events {
            now = now + .milliseconds(1)
            serve(.record(number.isMultiple(of: 2) ? .relayChanged(on: true, cause: .button) : .buttonPressed(.single)))
            serve(.deadlineReached)
            for id in sessions.keys where id != stalled { control(id, .deadlineReached) }
        }
    }

    private mutating func serve(_ event: PlugServer.Event) {
        for action in server.handle(event, now: now) {
            switch action {
            case .shell(.send(let id, let bytes)):
                receivedBytes += bytes.count
                if id != stalled { control(id, .received(bytes)) }
            case .shell(.pairingWindow): break
            case .shell, .perform, .fetch, .fetchAudit, .keep, .keepCode, .record, .factoryReset:
                preconditionFailure("unexpected action: \(action)")
            }
        }
    }

    private mutating func control(_ id: ConnectionID, _ event: ControllerSession.Event) {
        guard let actions = sessions[id]?.handle(event, now: now) else { return }
        for action in actions {
            switch action {
            case .send(let bytes): serve(.shell(.received(id, bytes)))
            case .deliver: break
            case .close(let reason): preconditionFailure("a session ended: \(reason)")
            }
        }
    }
}

/// Returns the bytes that the whole process has allocated (mallinfo2).
private func allocatedBytes() -> Int {
    let statistics = mallinfo2()
    return Int(statistics.uordblks + statistics.hblkhd)
}
