import Metering
import ProtocolCore

@testable import PlugProtocol
import PlugModel

let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
let otherBoot = BootID(bytes: [UInt8](repeating: 8, count: 16))!
let lamp = PlugServer.Identity(
    id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .meter, .button], firmware: "1.0",
    boot: boot)

let plugKey = PublicKey(bytes: [1, 1])!
let deskKey = PublicKey(bytes: [2, 2])!
let strangerKey = PublicKey(bytes: [3, 3])!
let otherKey = PublicKey(bytes: [4, 4])!
let ownerKey = PublicKey(bytes: [5, 5])!
let setupCode = try! SetupCode(text: "ABCD-EFGH-IJKL-MNOP")

/// Returns the access state of a plug that is paired with one owner for each of these keys.
func access(paired keys: [PublicKey] = [deskKey]) -> PlugServer.Access {
    PlugServer.Access(
        key: plugKey, code: setupCode,
        controllers: PairedControllers(keys.map { PairedControllers.Controller(key: $0, name: "Desk") }))
}

func opening(_ connection: ConnectionID, peer: String = "", key: PublicKey = deskKey) -> PlugServer.ShellEvent {
    .opened(
        PlugServer.Opening(
            connection, peer: peer, key: key,
            nonce: [UInt8](repeating: UInt8(truncatingIfNeeded: connection.rawValue), count: 32)))
}

func request(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }

/// Returns the id of the command with the request id `request(number)` from the controller with this key.
func command(_ number: UInt8, of key: PublicKey = deskKey) -> CommandID {
    CommandID(request(number), of: AuthorityID(key))
}

func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

func watts(_ watts: Double, at seconds: Double) -> PlugState {
    PlugState(
        relayOn: true,
        reading: Reading(time: at(seconds), deciwatts: Int32((watts * 10).rounded()), milliwattHours: 0))
}

func controllerFrame(_ fill: (inout WireControllerMessage) -> Void) -> [UInt8] {
    var message = WireControllerMessage()
    fill(&message)
    return FrameEncoder.frame(message)
}

func plugFrame(_ fill: (inout WirePlugMessage) -> Void) -> [UInt8] {
    var message = WirePlugMessage()
    fill(&message)
    return FrameEncoder.frame(message)
}

/// A plug, with the decoded messages that it sent to each session.
struct Bench {
    var server: PlugServer
    var received: [ConnectionID: [WirePlugMessage.OneOf_Kind]] = [:]
    private var decoders: [ConnectionID: FrameDecoder] = [:]

    init(
        journal: EventJournal = EventJournal(), requests: [FinishedRequest] = [],
        state: PlugState = PlugState(relayOn: false), limits: PlugServer.Limits = PlugServer.Limits(),
        paired keys: [PublicKey] = [deskKey], access known: PlugServer.Access? = nil
    ) {
        server = PlugServer(
            identity: lamp, access: known ?? access(paired: keys), journal: journal, requests: requests, state: state,
            limits: limits)
    }

    @discardableResult
    mutating func handle(_ event: PlugServer.ShellEvent, at seconds: Double = 0) -> [PlugServer.Action] {
        handle(.shell(event), at: seconds)
    }

    /// Handles an event. Returns the actions other than sent bytes.
    @discardableResult
    mutating func handle(_ event: PlugServer.Event, at seconds: Double = 0) -> [PlugServer.Action] {
        handle(event, now: at(seconds))
    }

    private mutating func handle(_ event: PlugServer.Event, now: Instant) -> [PlugServer.Action] {
        var others: [PlugServer.Action] = []
        for action in server.handle(event, now: now) {
            guard case .shell(.send(let connection, let bytes)) = action else {
                others.append(action)
                continue
            }
            decoders[connection, default: FrameDecoder()].append(bytes)
            while let message = try? decoders[connection]?.next(WirePlugMessage.self) {
                received[connection, default: []].append(message.kind!)
            }
        }
        return others
    }

    @discardableResult
    mutating func say(
        on connection: ConnectionID = first, at seconds: Double = 0, _ fill: (inout WireControllerMessage) -> Void
    ) -> [PlugServer.Action] {
        handle(.received(connection, controllerFrame(fill)), at: seconds)
    }

    /// Opens a session and sends Hello.
    mutating func greet(_ connection: ConnectionID = first, key: PublicKey = deskKey, at seconds: Double = 0) {
        handle(opening(connection, peer: "test", key: key), at: seconds)
        say(on: connection, at: seconds) {
            $0.hello.version = 1
            $0.hello.controller = "Desk"
        }
        _ = take(connection)
    }

    /// Returns the messages received since the last call.
    mutating func take(_ connection: ConnectionID = first) -> [WirePlugMessage.OneOf_Kind] {
        defer { received[connection] = [] }
        return received[connection] ?? []
    }

    /// Delivers all deadlines up to and including this time. Returns the actions other than sent bytes.
    mutating func run(until seconds: Double) -> [PlugServer.Action] {
        var others: [PlugServer.Action] = []
        while let deadline = server.nextDeadline, deadline <= at(seconds) {
            others += handle(.deadlineReached, now: deadline)
        }
        return others
    }
}

let first = ConnectionID(rawValue: 1)
let second = ConnectionID(rawValue: 2)

extension WirePlugMessage.OneOf_Kind {
    var sequence: SequenceNumber? {
        guard case .event(let event) = self else { return nil }
        return event.sequence
    }
    var goodbyeReason: Goodbye.Reason? {
        guard case .goodbye(let wire) = self else { return nil }
        return wire.model.reason
    }
}
