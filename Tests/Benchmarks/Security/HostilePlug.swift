import Foundation
import LinuxNetwork
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugClient
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore
import ServiceDiscovery

/// A hostile plug on loopback with which a controller is paired. It answers Hello and Subscribe, and then repeats one
/// message of a session.
actor HostilePlug: ConnectionOwner {
    /// A message of `PlugMessage` in smartplug.proto: its field number and its fields, which may depend on the number
    /// of messages sent.
    struct Message: Sendable {
        let name: String
        fileprivate let field: Int
        fileprivate let body: @Sendable (UInt64) -> [UInt8]

        private init(_ name: String, _ field: Int, _ body: @escaping @Sendable (UInt64) -> [UInt8] = { _ in [] }) {
            (self.name, self.field, self.body) = (name, field, body)
        }

        /// Every message that a plug may send after Welcome, except Goodbye. Many are answers without a request, after
        /// which the controller ends the session.
        static let all = [
            Message("Subscribed", 2) { wireNumber(1, $0 + 1) },
            Message("Snapshot", 3) { wireBytes(1, wireNumber(1, $0 & 1)) + wireNumber(2, 1) },
            Message("Event", 4) {
                wireNumber(1, $0) + wireNumber(3, 1) + wireNumber(4, 0) + wireBytes(6, wireNumber(1, 1))
            },
            Message("StateUpdate", 5) { wireBytes(1, wireNumber(1, $0 & 1)) + wireNumber(2, 1) },
            Message("CommandResult", 6) { _ in wireBytes(1, randomBytes(16)) },
            Message("SampleChunk", 7) { wireNumber(1, $0) },
            Message("Ping", 8) { wireNumber(1, $0) },
            Message("Pong", 9) { wireNumber(1, $0) + wireNumber(2, 1) },
            Message("Controllers", 13),
            Message("LogAnswer", 15),
            Message("LogLines", 16) { wireNumber(2, $0) },
            Message("Invitation", 18) { _ in wireNumber(1, 60) },
            Message("SetupCodeChanged", 19),
            Message("AuditEntries", 20),
            Message("NextKey", 21) { _ in wireBytes(1, randomBytes(91)) },
            Message("RequestRefused", 22) { _ in wireBytes(1, Array("rename".utf8)) },
            Message("KeyAccepted", 23),
            Message("HomeKitStatus", 24),
            Message("Invitations", 25),
            // This message is the last, because the house no longer finds the plug under its first name afterwards.
            Message("DescriptionChanged", 17) { wireBytes(1, Array("Hostile \($0 % 1000)".utf8)) },
        ]
    }

    static let id = PlugID(rawValue: "0badc0ffee00")!

    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    private let name: String
    private let boot = BootID(bytes: randomBytes(16))!
    private var connections: [ConnectionID: Session] = [:]
    private var discovery: Discovery?
    private var listener: Listener?
    private(set) var sent = 0

    private struct Session {
        let connection: Connection
        var server: PlugServer
        var isSubscribed = false
        var isWritable = true
        /// The number of messages sent, which is the number of the last event.
        var number: UInt64 = 0
    }

    init(named name: String, on loop: any EventLoop) { (self.name, self.loop) = (name, loop) }

    /// Starts to listen, and announces the plug on loopback.
    /// - Returns: the plug's key, for the controller's list of paired plugs.
    func start() async throws -> PublicKey {
        let identity = TransportIdentity()
        let listener = try await Listener.start(on: loop, identity: identity, loopbackOnly: true, owner: self)
        let discovery = Discovery(
            interfaces: .named(["lo"]), on: loop, logger: Logger(label: "hostile") { _ in SwiftLogNoOpLogHandler() })
        let service = try ServiceRegistration(
            name: name, type: PlugClient.serviceType, hostName: "hostile-plug", port: listener.port,
            txt: TXTRecord(["txtvers": "1", "id": Self.id.rawValue, "pv": "1", "pair": "0", "caps": "relay"]))
        _ = try await discovery.register(service)
        (self.listener, self.discovery) = (listener, discovery)
        return identity.publicKey
    }

    func stop() async {
        for session in connections.values { session.connection.close() }
        await discovery?.stop()
        await listener?.stop()
    }

    /// Sends the message until the task is cancelled.
    func flood(_ message: Message) async {
        while !Task.isCancelled {
            for (id, session) in connections where session.isSubscribed && session.isWritable {
                for _ in 0..<ViewerFlood.burst {
                    connections[id]?.number += 1
                    let number = connections[id]?.number ?? 0
                    session.connection.send(wireFrame(wireBytes(message.field, message.body(number))))
                }
                sent += ViewerFlood.burst
            }
            try? await Task.sleep(for: ViewerFlood.interval)
        }
    }

    func opened(_ connection: Connection) {
        connection.markPaired()
        let identity = PlugServer.Identity(
            id: Self.id, name: name, capabilities: [.relay, .button], firmware: "1.0", boot: boot)
        let paired = PairedControllers([PairedControllers.Controller(key: connection.peerKey, name: "House")])
        let access = PlugServer.Access(key: connection.peerKey, code: nil, controllers: paired)
        let server = PlugServer(
            identity: identity, access: access, journal: EventJournal(), state: PlugState(relayOn: false))
        connections[connection.id] = Session(connection: connection, server: server)
        handle(
            .shell(
                .opened(PlugServer.Opening(connection.id, peer: "", key: connection.peerKey, nonce: randomBytes(32)))),
            connection.id)
    }

    func received(_ bytes: [UInt8], on id: ConnectionID) {
        handle(.shell(.received(id, bytes)), id)
        // A connection with a cursor has subscribed, so the flood may begin.
        if connections[id]?.server.connections.first?.cursor != nil { connections[id]?.isSubscribed = true }
    }
    func writable(_ isWritable: Bool, on id: ConnectionID) { connections[id]?.isWritable = isWritable }
    func closed(_ id: ConnectionID) { connections[id] = nil }

    private func handle(_ event: PlugServer.Event, _ id: ConnectionID) {
        for action in connections[id]?.server.handle(event, now: BootClock.now) ?? [] {
            switch action {
            case .shell(.send(_, let bytes)): connections[id]?.connection.send(bytes)
            case .shell(.close): connections[id]?.connection.close()
            default: break
            }
        }
    }
}
