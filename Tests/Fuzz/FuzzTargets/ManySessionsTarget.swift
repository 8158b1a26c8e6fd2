import Crypto
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Runs concurrent sessions of controllers of all roles, in any order. They rotate keys, invite, pair, change
    /// roles, remove each other and expire. The plug always keeps an owner, and serves no unknown controller.
    static let manySessions = FuzzTarget(
        name: "many-sessions",
        seeds: { CrowdedPlug.seeds },
        check: { bytes in
            var plug = CrowdedPlug()
            for start in stride(from: 0, to: min(bytes.count, 600) - 1, by: 2) {
                try plug.step(bytes[start], bytes[start + 1])
            }
            return plug.welcomes > 0
        })
}

/// A plug with four people on six connections, and the key pairs of all people.
private struct CrowdedPlug {
    private enum Step: UInt8, CaseIterable {
        case open, openWithNextKey, hello, malformedHello, announceKey, announceStolenKey, invite, requestPairing
        case provePairing, setRole, removeController, followLog, fetchAudit, pass, plugEvent, close
    }

    private struct Link {
        var id: ConnectionID
        var person: Int
        var key: P256.Signing.PrivateKey
        var nonce: [UInt8]
        var session: ControllerSession?
        var pairing: PairingSession?
    }

    private static let keys = (1...64).map { number in
        // Any number from 1 up to the order of the curve, exclusive, is a private key.
        try! P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0, count: 31) + [UInt8(number)])
    }
    private static let people = 4
    private static let codes = ["QRST-UVWX-YZ23-4567", "AAAA-BBBB-CCCC-DDDD"].map { try! SetupCode(text: $0) }

    /// A rotation, an invitation with its pairing, and every step once.
    static var seeds: [[UInt8]] {
        func step(_ step: Step, _ link: UInt8, _ argument: UInt8 = 0) -> [UInt8] {
            [step.rawValue | link << 4, argument]
        }
        let rotation: [[UInt8]] = [
            step(.open, 0, 1), step(.hello, 0), step(.open, 1, 1), step(.hello, 1), step(.announceKey, 0),
            step(.openWithNextKey, 2, 1), step(.malformedHello, 2, 1), step(.openWithNextKey, 3, 1), step(.hello, 3),
        ]
        let invitation: [[UInt8]] = [
            step(.open, 0, 0), step(.hello, 0), step(.invite, 0, 3), step(.open, 1, 3), step(.requestPairing, 1),
            step(.provePairing, 1), step(.hello, 1), step(.pass, 0, 255), step(.setRole, 0, 1),
            step(.removeController, 0, 2),
        ]
        let all = Step.allCases.map { step($0, $0.rawValue & 3, $0.rawValue &* 37) }
        return [rotation, invitation, rotation + invitation + all].map { [0, 0] + $0.flatMap(\.self) }
    }

    private var server: PlugServer
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var links: [Int: Link] = [:]
    private var lastConnection: UInt64 = 0
    /// The number of the key that each person uses, as in `publicKey`.
    private var current = Array(0..<people)
    /// The number of the key that each person has announced, or nil without a pending announcement.
    private var announced: [Int?] = Array(repeating: nil, count: people)
    private var unused = people
    private(set) var welcomes = 0

    init() {
        let roles: [(Role, UInt32?)] = [(.owner, nil), (.viewer, nil), (.guest, 600)]
        let controllers = roles.enumerated().map { number, role in
            PairedControllers.Controller(
                key: Self.publicKey(number), name: "Person \(number)", role: role.0, secondsLeft: role.1)
        }
        server = PlugServer(
            identity: PlugServer.Identity(
                id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .log, .audit],
                firmware: "1.0", boot: FuzzedPlug.boot),
            access: PlugServer.Access(key: .plug, code: .label, controllers: PairedControllers(controllers)),
            journal: EventJournal(), state: PlugState(relayOn: false))
    }

    private static func publicKey(_ number: Int) -> PublicKey {
        PublicKey(bytes: keys[number % keys.count].publicKey.derRepresentation)!
    }

    mutating func step(_ first: UInt8, _ argument: UInt8) throws(FuzzFailure) {
        let slot = Int(first >> 4) % 6
        let person = Int(argument) % Self.people
        switch Step(rawValue: first & 15)! {
        case .open: try open(slot, person, key: current[person])
        case .openWithNextKey: try open(slot, person, key: announced[person] ?? current[person])
        case .hello:
            guard links[slot]?.session == nil, links[slot]?.pairing == nil else { break }
            links[slot]?.session = ControllerSession(name: "Person \(argument)")
            try tell(slot, .connected)
        case .malformedHello:
            // A Hello with version 1 and a name of up to 255 bytes.
            let name = [UInt8](repeating: 110, count: Int(argument))
            let hello: [UInt8] = [8, 1, 18] + Self.varint(name.count) + name
            let message = [10] + Self.varint(hello.count) + hello
            try send(slot, [0, 0, UInt8(message.count >> 8), UInt8(message.count & 255)] + message)
        case .announceKey: try announce(slot, signer: unused)
        case .announceStolenKey: try announce(slot, signer: current[person], isOwn: false)
        case .invite:
            let roles = [try? Grant(.viewer), try? Grant(.guest, seconds: 60), Grant.owner, try? Grant(.user)]
            guard let grant = roles[person] else { break }
            try tell(slot, .request(.invite(Self.codes[Int(argument >> 4) % 2], grant)))
        case .requestPairing:
            guard let link = links[slot], link.session == nil else { break }
            links[slot]?.pairing = PairingSession(name: "New \(argument)", code: Self.codes[Int(argument >> 4) % 2])
            try pair(
                slot,
                .connected(
                    plugKey: .plug, ownKey: Self.key(of: link), nonce: [UInt8](repeating: 3, count: 32)))
        case .provePairing: break  // The session sends the proof when it receives the challenge.
        case .setRole:
            let grants = [Grant.owner, try? Grant(.viewer), try? Grant(.guest, seconds: 60), try? Grant(.user)]
            guard let grant = grants[Int(argument >> 4) % 4] else { break }
            try tell(slot, .request(.setRole(fingerprint: Self.publicKey(current[person]).fingerprint, grant)))
        case .removeController:
            try tell(slot, .request(.removeController(fingerprint: Self.publicKey(current[person]).fingerprint)))
        case .followLog: try tell(slot, .followLog(.debug, for: .seconds(Int64(argument))))
        case .fetchAudit: try tell(slot, .request(.fetchAudit(after: 0, limit: nil)))
        case .pass:
            now = now + .seconds(Int64(argument) * Int64(argument) / 16)
            try handle(.deadlineReached)
        case .plugEvent: try handle(plugEvent(argument))
        case .close:
            guard let link = links.removeValue(forKey: slot) else { break }
            try handle(.shell(.closed(link.id)))
        }
        try check()
    }

    private func plugEvent(_ argument: UInt8) -> PlugServer.Event {
        switch argument % 8 {
        case 0: .openPairing
        case 1: .shell(.nextKey(.stranger))
        case 2: .shell(.keyTurned)
        case 3: .shell(.changeCode(Self.codes[0]))
        case 4: .codeKept(nil)
        case 5: .record(.relayChanged(on: true, cause: .button))
        case 6:
            .shell(
                .removeController(fingerprint: Self.publicKey(current[Int(argument >> 4) % Self.people]).fingerprint))
        case _: .renamed("Lamp \(argument)")
        }
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127 | 128), UInt8(number >> 7)]
    }

    private static func key(of link: Link) -> PublicKey { PublicKey(bytes: link.key.publicKey.derRepresentation)! }

    private mutating func open(_ slot: Int, _ person: Int, key: Int) throws(FuzzFailure) {
        if let old = links.removeValue(forKey: slot) { try handle(.shell(.closed(old.id))) }
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        let nonce = [UInt8](repeating: UInt8(truncatingIfNeeded: lastConnection), count: 32)
        links[slot] = Link(id: id, person: person, key: Self.keys[key % Self.keys.count], nonce: nonce)
        try handle(
            .shell(.opened(PlugServer.Opening(id, peer: "person \(person)", key: Self.publicKey(key), nonce: nonce))))
    }

    private mutating func announce(_ slot: Int, signer: Int, isOwn: Bool = true) throws(FuzzFailure) {
        guard let link = links[slot], let next = PublicKey(bytes: Self.keys[signer % 64].publicKey.derRepresentation)
        else { return }
        let announcement = KeyAnnouncement(
            plug: server.identity.id, key: Self.key(of: link), nextKey: next, nonce: link.nonce)
        let signature = { (number: Int?) in
            number.flatMap { try? Self.keys[$0 % 64].signature(for: announcement.bytes).derRepresentation }.map(
                Array.init)
                ?? []
        }
        let before = server.access.controllers
        try tell(
            slot,
            .request(
                .announceKey(
                    next, signature: isOwn ? signature(signer) : [7],
                    pendingSignature: signature(announced[link.person]))))
        guard server.access.controllers != before else { return }
        // TLS has proved the session's own key. The announcement of this key needs no signature, and withdraws the
        // earlier announcement.
        let isWithdrawn = next == Self.key(of: link)
        try require(isOwn || isWithdrawn, "a key is announced without a proof")
        announced[link.person] = isWithdrawn ? nil : signer
        unused += 1
    }

    private mutating func tell(_ slot: Int, _ event: ControllerSession.Event) throws(FuzzFailure) {
        guard var session = links[slot]?.session else { return }
        let actions = session.handle(event, now: now)
        links[slot]?.session = session
        for case .send(let bytes) in actions { try send(slot, bytes) }
    }

    private mutating func pair(_ slot: Int, _ event: PairingSession.Event) throws(FuzzFailure) {
        guard var pairing = links[slot]?.pairing else { return }
        let actions = pairing.handle(event, now: now)
        links[slot]?.pairing = pairing
        for action in actions {
            switch action {
            case .send(let bytes): try send(slot, bytes)
            case .close: break
            case .finish:
                // Pairing is over; the connection can send Hello now.
                links[slot]?.pairing = nil
                if let link = links[slot] {
                    current[link.person] =
                        Self.keys.firstIndex { $0.rawRepresentation == link.key.rawRepresentation } ?? 0
                }
            }
        }
    }

    private mutating func send(_ slot: Int, _ bytes: [UInt8]) throws(FuzzFailure) {
        guard let link = links[slot] else { return }
        try handle(.shell(.received(link.id, bytes)))
    }

    private mutating func handle(_ event: PlugServer.Event) throws(FuzzFailure) {
        for action in server.handle(event, now: now) {
            switch action {
            case .shell(.send(let id, let bytes)):
                guard let slot = links.first(where: { $0.value.id == id })?.key else { break }
                try hear(slot, bytes)
            case .shell(.close(let id, _)):
                if let slot = links.first(where: { $0.value.id == id })?.key { links[slot] = nil }
            case .fetchAudit(let id, _, _): try handle(.audit(id, AuditPage([], isLast: true)))
            case .record(let kind): try handle(.record(kind))
            case .keepCode: break  // A later step of the input is the answer.
            case .factoryReset: try handle(.resetFailed)
            case .shell(.manageHomeKit(let id, _)):
                try handle(.shell(.homeKit(id, .failure(Refusal(.unsupported, "off")))))
            case .shell(.manageMatter(let id, _)):
                try handle(.shell(.matter(id, .failure(Refusal(.unsupported, "off")))))
            case .shell(.manageUpdate(let id, _)):
                try handle(.shell(.update(id, .failure(Refusal(.unsupported, "off")))))
            case .shell(.manageWiFi(let id, _)):
                try handle(.shell(.wiFi(id, .failure(Refusal(.unsupported, "off")))))
            case .perform(let id, _, _, _): try handle(.commandOutcome(id, .done(server.state, event: nil)))
            case .fetch(let id, let fetch, _, _): try handle(.samples(id, fetch: fetch, chunk: [], next: nil))
            case .shell, .keep: break
            }
        }
    }

    private mutating func hear(_ slot: Int, _ bytes: [UInt8]) throws(FuzzFailure) {
        if links[slot]?.pairing != nil { return try pair(slot, .received(bytes)) }
        guard var session = links[slot]?.session else { return }
        let actions = session.handle(.received(bytes), now: now)
        links[slot]?.session = session
        for action in actions {
            switch action {
            case .deliver(.welcomed):
                welcomes += 1
                if let link = links[slot], let key = announced[link.person], Self.publicKey(key) == Self.key(of: link) {
                    (current[link.person], announced[link.person]) = (key, nil)
                }
            case .send(let bytes): try send(slot, bytes)
            case .deliver, .close: break
            }
        }
    }

    private func check() throws(FuzzFailure) {
        try require(!server.access.controllers.owners.isEmpty, "the plug has lost its last owner")
        for connection in server.connections where connection.controller != nil {
            let link = links.values.first { $0.id == connection.id }
            try require(
                link.map { server.access.controllers[Self.key(of: $0)] != nil } ?? true,
                "\(connection.peer) has a session but is not paired")
        }
    }
}
