import Crypto
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import Appliance
@testable import PlugProtocol

/// A paired controller that sends the same message again and again, and connects again when its session ends.
private struct FloodingPeer {
    let message: AskedRequest
    private var key = P256.Signing.PrivateKey()
    private var next: P256.Signing.PrivateKey?
    private var connection: ConnectionID
    private var isOpen = false

    init(_ message: AskedRequest, connection: UInt64) {
        self.message = message
        self.connection = ConnectionID(rawValue: connection)
    }

    var publicKey: PublicKey { Self.publicKey(key) }

    mutating func send(_ number: Int, to house: inout House) {
        if !isOpen { open(house: &house) }
        switch message {
        case .hello, .goodbye:
            let isHello = message == .hello
            say(&house) { if isHello { Self.hello(&$0) } else { $0.goodbye = WireGoodbye() } }
            isOpen = false
        case .announce_key: rotate(&house)
        default: say(&house) { fill(&$0, number) }
        }
        let isClosed = house.actions.contains { if case .server(.close(connection, _)) = $0 { true } else { false } }
        if isClosed { isOpen = false }
    }

    private mutating func open(house: inout House) {
        house.feed(.server(.closed(connection)))
        connection = ConnectionID(rawValue: connection.rawValue + 100)
        house.feed(.server(.opened(PlugServer.Opening(connection, of: publicKey))))
        say(&house) { Self.hello(&$0) }
        isOpen = true
    }

    /// Announces a new key, and uses it if the plug accepted it.
    private mutating func rotate(_ house: inout House) {
        let new = P256.Signing.PrivateKey()
        let announcement = KeyAnnouncement(
            plug: house.machine.identity.id, key: publicKey, nextKey: Self.publicKey(new),
            nonce: PlugServer.Opening(connection, of: publicKey).nonce)
        let signature = try? new.signature(for: announcement.bytes).derRepresentation
        say(&house) {
            $0.announceKey.key = .init(Self.publicKey(new).bytes)
            if let signature { $0.announceKey.signature = signature }
        }
        guard house.machine.access.controllers[Self.publicKey(new)] != nil else { return }
        key = new
        open(house: &house)
    }

    private func say(_ house: inout House, _ fill: (inout WireControllerMessage) -> Void) {
        var message = WireControllerMessage()
        fill(&message)
        house.feed(.server(.received(connection, FrameEncoder.frame(message))))
    }

    private static func publicKey(_ key: P256.Signing.PrivateKey) -> PublicKey {
        PublicKey(bytes: Array(key.publicKey.derRepresentation))!
    }

    private static func hello(_ message: inout WireControllerMessage) {
        message.hello.version = PlugWire.version
        message.hello.controller = "Peer"
    }

    private func fill(_ message: inout WireControllerMessage, _ number: Int) {
        let id = RequestID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) })!
        func command(_ command: PlugCommand) {
            message.command = WireCommand(command, request: id, within: .seconds(2))
        }
        let other = PublicKey(madeUp: 1000).fingerprint
        switch self.message {
        case .hello, .goodbye, .announce_key, .command: break
        case .subscribe: message.subscribe.after = 1
        case .acknowledge: message.acknowledge.sequence = UInt64(number)
        case .fetch_samples:
            message.fetchSamples.fetchID = UInt32(number)
            message.fetchSamples.to = 1 << 60
        case .ping: message.ping.token = UInt64(number)
        case .pong: message.pong.token = UInt64(number)
        case .pairing_request: message.pairingRequest.version = PlugWire.version
        case .pairing_proof: message.pairingProof.proof = .init(repeating: 1, count: 32)
        case .list_controllers: message.listControllers = WireListControllers()
        case .remove_controller: message.removeController.fingerprint = other
        case .factory_reset: message.factoryReset = WireFactoryReset()
        case .follow_log: message.followLog.seconds = 60
        case .invite:
            message.invite.code = .init((0..<10).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
            message.invite.role = .viewer
        case .set_role:
            message.setRole.fingerprint = other
            message.setRole.role = number.isMultiple(of: 2) ? .viewer : .user
        case .fetch_audit: message.fetchAudit = WireFetchAudit()
        case .new_code: message.newCode.code = .init((0..<10).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
        case .next_key_kept:
            let isRight = number.isMultiple(of: 2)
            message.nextKeyKept.key = .init(PublicKey(madeUp: isRight ? 2000 : UInt64(3000 + number)).bytes)
        case .manage_homekit: message.manageHomekit = WireManageHomeKit()
        case .manage_matter: message.manageMatter = WireManageMatter()
        case .manage_wifi: message.manageWifi = WireManageWifi(.setUp)
        case .manage_update: message.manageUpdate = WireManageUpdate(.restart(whenOff: false))
        case .list_invitations: message.listInvitations = WireListInvitations()
        case .revoke_invitation: message.revokeInvitation.number = UInt32(number)
        case .set_relay: command(.setRelay(on: number.isMultiple(of: 2), autoOff: nil))
        case .set_level: command(.setLevel(.full, transition: .zero))
        case .identify: command(.identify)
        case .reset_protection: command(.resetProtection)
        case .rename: command(.rename("Lamp \(number)"))
        case .configure:
            command(.configure(SettingsChange(powerOn: .value(number.isMultiple(of: 2) ? .on : .off))))
        }
    }
}

@Suite struct PeerFloodTests {
    /// Returns the number of writes to flash in an hour in which controllers of these roles send the message every 2 s.
    private func writes(of message: AskedRequest, by roles: [Role]) -> Int {
        var peers = roles.indices.map { FloodingPeer(message, connection: UInt64(10 + $0)) }
        let known =
            [PairedControllers.Controller(key: .desk, name: "Desk")]
            + zip(peers, roles).map { PairedControllers.Controller(key: $0.publicKey, name: "\($1)", role: $1) }
            + [PairedControllers.Controller(key: PublicKey(madeUp: 1000), name: "Other", role: .viewer)]
        let access = PlugServer.Access(key: .plug, code: .label, controllers: PairedControllers(known))
        var house = House(interval: .seconds(60), access: access, audit: AuditLog())
        house.feed(.server(.nextKey(PublicKey(madeUp: 2000))))
        var writes = 0
        for number in 0..<1800 {
            house.actions = []
            for index in peers.indices { peers[index].send(number, to: &house) }
            house.run(for: .seconds(2))
            writes += house.actions.count(where: \.writesFlash)
        }
        return writes
    }

    @Test(
        "A viewer and a user that repeat one message cause at most 60 writes to flash in an hour",
        arguments: AskedRequest.allCases.filter { $0 != .command })
    func guestsWearNoFlash(message: AskedRequest) {
        let writes = writes(of: message, by: [.viewer, .user])
        #expect(writes <= 60, "\(writes) writes")
    }

    /// `factory_reset` is omitted because the owner is no longer paired after it. `command` is omitted because each of
    /// its contents, for example `set_relay`, is a separate case.
    @Test(
        "An owner that repeats one message causes at most 60 writes to flash in an hour",
        arguments: AskedRequest.allCases.filter { $0 != .factory_reset && $0 != .command })
    func ownerWearsNoFlash(message: AskedRequest) {
        let writes = writes(of: message, by: [.owner])
        #expect(writes <= 60, "\(writes) writes")
    }
}

extension PlugMachine.Action {
    fileprivate var writesFlash: Bool {
        switch self {
        case .keep, .keepAudit, .keepSettings, .keepCode, .persist, .reserve: true
        default: false
        }
    }
}
