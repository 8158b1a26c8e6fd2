import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore

/// A paired viewer that sends the same message 2,000 times per second. It reads the answers, and reconnects when the
/// plug ends the session.
actor ViewerFlood: ConnectionOwner {
    /// A message of `ControllerMessage` in smartplug.proto: its field number, and its own fields.
    struct Message: Sendable {
        let name: String
        fileprivate let field: Int
        fileprivate let body: @Sendable (Announcement) -> [UInt8]

        private init(_ name: String, _ field: Int, _ body: @escaping @Sendable (Announcement) -> [UInt8] = { _ in [] })
        {
            (self.name, self.field, self.body) = (name, field, body)
        }

        /// Every message that a paired controller may send, except Hello, Goodbye, Pong and PairingProof. The
        /// only commands are SetRelay and Rename.
        static let all = [
            Message("Subscribe", 2) { _ in wireNumber(1, 1) },
            Message("Acknowledge", 3) { _ in wireNumber(1, 1) },
            Message("SetRelay", 4) { _ in wireBytes(1, randomBytes(16)) + wireBytes(3, wireNumber(1, 1)) },
            Message("Rename", 4) { _ in wireBytes(1, randomBytes(16)) + wireBytes(7, wireBytes(1, Array("Viewer".utf8)))
            },
            Message("FetchSamples", 5) { _ in wireNumber(1, 1) + wireNumber(3, 1 << 62) },
            Message("Ping", 6) { _ in wireNumber(1, 1) },
            Message("PairingRequest", 9) { _ in
                wireNumber(1, 1) + wireBytes(2, Array("Viewer".utf8)) + wireBytes(3, randomBytes(32))
            },
            Message("ListControllers", 11),
            Message("RemoveController", 12) { _ in wireBytes(1, Array("abcdef".utf8)) },
            Message("FactoryReset", 13),
            Message("FollowLog", 15) { _ in wireNumber(1, 1) + wireNumber(2, 60) },
            Message("Invite", 16) { _ in wireBytes(1, randomBytes(10)) + wireNumber(2, 3) },
            Message("SetRole", 17) { _ in wireBytes(1, Array("abcdef".utf8)) + wireNumber(2, 1) },
            Message("NewCode", 18) { _ in wireBytes(1, randomBytes(10)) },
            Message("FetchAudit", 19),
            Message("AnnounceKey, proved", 20) { wireBytes(1, $0.key) + wireBytes(2, $0.signature) },
            Message("AnnounceKey, not proved", 20) { wireBytes(1, $0.key) + wireBytes(2, $0.wrongSignature) },
            Message("NextKeyKept", 21) { _ in wireBytes(1, randomBytes(91)) },
            Message("ManageHomeKit", 22),
            Message("ListInvitations", 23),
            Message("RevokeInvitation", 24) { _ in wireNumber(1, 1) },
        ]
    }

    /// The content of the AnnounceKey message in this session.
    fileprivate struct Announcement: Sendable {
        let key: [UInt8]
        let signature: [UInt8]
        /// A signature by a different key than the announced one.
        let wrongSignature: [UInt8]
    }

    /// The interval between bursts of ten messages, which gives 2,000 messages per second.
    static let interval = Duration.milliseconds(5)
    static let burst = 10

    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    private let identity: TransportIdentity
    private let address: SocketAddress
    private let message: Message
    private var session = ControllerSession(name: "viewer")
    private var connection: Connection?
    private var announcement: Announcement?
    private var isWritable = true
    private(set) var sent = 0

    init(_ message: Message, as identity: TransportIdentity, to address: SocketAddress, on loop: any EventLoop) {
        (self.message, self.identity, self.address, self.loop) = (message, identity, address, loop)
    }

    /// Floods until the task is cancelled.
    /// - Returns: the number of messages sent.
    func run() async -> Int {
        let dialer = Dialer(identity: identity)
        while !Task.isCancelled {
            if connection == nil { try? await dialer.connect(to: [address], on: loop, owner: self) }
            if isWritable, let connection, let announcement {
                for _ in 0..<Self.burst { connection.send(Self.frame(message, announcement)) }
                sent += Self.burst
            }
            try? await Task.sleep(for: Self.interval)
        }
        connection?.close()
        return sent
    }

    func opened(_ connection: Connection) {
        self.connection = connection
        (session, announcement, isWritable) = (ControllerSession(name: "viewer"), nil, true)
        handle(.connected)
    }

    func received(_ bytes: [UInt8], on id: ConnectionID) { if announcement == nil { handle(.received(bytes)) } }
    func writable(_ isWritable: Bool, on id: ConnectionID) { self.isWritable = isWritable }
    func closed(_ id: ConnectionID) { (connection, announcement) = (nil, nil) }

    private func handle(_ event: ControllerSession.Event) {
        for action in session.handle(event, now: BootClock.now) {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .close: connection?.close()
            case .deliver(.welcomed(let plug)):
                let next = TransportIdentity()
                let signed = KeyAnnouncement(
                    plug: plug.id, key: identity.publicKey, nextKey: next.publicKey, nonce: plug.nonce)
                guard let signature = try? next.signature(of: signed.bytes),
                    let wrong = try? TransportIdentity().signature(of: signed.bytes)
                else { continue }
                announcement = Announcement(key: next.publicKey.bytes, signature: signature, wrongSignature: wrong)
            case .deliver: break
            }
        }
    }

    private static func frame(_ message: Message, _ announcement: Announcement) -> [UInt8] {
        wireFrame(wireBytes(message.field, message.body(announcement)))
    }
}
