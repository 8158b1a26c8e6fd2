import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

/// A plug and pairing controllers, with their streams connected.
private struct Pairing {
    var server: PlugServer
    var others: [PlugServer.Action] = []
    var results: [ConnectionID: Result<PairedPlug, PairingError>] = [:]
    private var sessions: [ConnectionID: PairingSession] = [:]
    private var ended: Set<ConnectionID> = []

    init(paired keys: [PublicKey] = []) {
        server = PlugServer(
            identity: lamp, access: access(paired: keys), journal: EventJournal(), state: PlugState(relayOn: false))
        plug(.record(.restarted(powerLost: true)), at: 0)
    }

    /// - Parameter seen: the plug's key that TLS shows to the controller.
    mutating func pair(
        _ connection: ConnectionID, key: PublicKey = strangerKey, code: SetupCode = setupCode,
        seen: PublicKey = plugKey, at seconds: Double
    ) {
        sessions[connection] = PairingSession(name: "Tablet", code: code)
        plug(opening(connection, key: key), at: seconds)
        let nonce = [UInt8](repeating: 9, count: 32)
        controller(connection, .connected(plugKey: seen, ownKey: key, nonce: nonce), at: seconds)
    }

    mutating func plug(_ event: PlugServer.ShellEvent, at seconds: Double) { plug(.shell(event), at: seconds) }

    mutating func plug(_ event: PlugServer.Event, at seconds: Double) {
        for action in server.handle(event, now: at(seconds)) {
            switch action {
            case .shell(.send(let connection, let bytes)): controller(connection, .received(bytes), at: seconds)
            case .shell(.close(let connection, _)):
                ended.insert(connection)
                controller(connection, .closed, at: seconds)
            case .record(let kind): plug(.record(kind), at: seconds)
            case .shell, .perform, .fetch, .fetchAudit, .keep, .keepCode, .factoryReset:
                others.append(action)
            }
        }
    }

    mutating func controller(_ connection: ConnectionID, _ event: PairingSession.Event, at seconds: Double) {
        guard let actions = sessions[connection]?.handle(event, now: at(seconds)) else { return }
        for action in actions {
            switch action {
            case .send(let bytes):
                if !ended.contains(connection) { plug(.received(connection, bytes), at: seconds) }
            case .close: break
            case .finish(let result): results[connection] = result
            }
        }
    }

    /// Delivers the plug's deadlines up to and including this time.
    mutating func run(until seconds: Double) {
        while let deadline = server.nextDeadline, deadline <= at(seconds) {
            plug(.deadlineReached, at: (deadline - .zero).inSeconds)
        }
    }

    var events: [PlugEvent.Kind] { server.journal.read(after: 0, limit: 1000).map(\.kind) }
}

@Suite struct PairingTests {
    private let wrongCode = try! SetupCode(text: "ABCD-EFGH-IJKL-MNOQ")

    @Test("A controller that proves its knowledge of the code is paired, and may then send Hello")
    func whoKnowsTheCodeIsPairedAndMaySayHello() {
        var pairing = Pairing()
        pairing.pair(first, at: 1)
        #expect(pairing.results[first] == .success(PairedPlug(id: lamp.id, key: plugKey)))
        let paired = PairedControllers([.init(key: strangerKey, name: "Tablet")])
        #expect(pairing.others == [.shell(.pairingWindow(isOpen: true)), .keep(paired)])
        #expect(pairing.server.access.controllers == paired)
        #expect(pairing.events == [.restarted(powerLost: true), .controllerPaired(name: "Tablet")])
        let hello = controllerFrame {
            $0.hello.version = 1
            $0.hello.controller = "Tablet"
        }
        pairing.plug(.received(first, hello), at: 1)
        #expect(pairing.server.connections.map(\.controller) == ["Tablet"])
    }

    @Test("A wrong code is refused and counted")
    func aWrongCodeIsRefusedAndCounted() {
        var pairing = Pairing()
        pairing.pair(first, code: wrongCode, at: 1)
        #expect(pairing.results[first] == .failure(.wrongCode))
        #expect(pairing.server.access.controllers.all.isEmpty)
        #expect(pairing.events.last == .pairingFailed(failures: 1))
        #expect(pairing.server.connections.isEmpty)
    }

    @Test("After a wrong proof, the next proof of any controller is checked only after a wait")
    func theNextProofWaitsWhoeverSendsItAndIsThenLookedAt() {
        var pairing = Pairing()
        pairing.pair(first, code: wrongCode, at: 1)
        pairing.pair(second, key: PublicKey(bytes: [8])!, at: 1.1)
        #expect(pairing.results[second] == nil)
        #expect(pairing.server.nextDeadline == at(1.5))
        pairing.run(until: 1.5)
        #expect(pairing.results[second] == .success(PairedPlug(id: lamp.id, key: plugKey)))
    }

    @Test("While other connections guess codes continuously, a correct proof is checked within 30 seconds")
    func whoeverGuessesHoweverOftenNobodyElseWaitsLongerThan30Seconds() {
        var pairing = Pairing()
        // Every 30 s, seven connections guess at the same time.
        var guesses: UInt64 = 0
        for round in 0..<10 {
            for _ in 0..<7 {
                guesses += 1
                pairing.pair(ConnectionID(rawValue: guesses), code: wrongCode, at: Double(round) * 30 + 1)
            }
            pairing.run(until: Double(round) * 30 + 30.9)
        }
        for number in 100..<107 { pairing.pair(ConnectionID(rawValue: UInt64(number)), code: wrongCode, at: 301) }
        let owner = ConnectionID(rawValue: 99)
        pairing.pair(owner, at: 302)
        pairing.run(until: 332)
        #expect(pairing.results[owner] == .success(PairedPlug(id: lamp.id, key: plugKey)))
        #expect(pairing.results.values.count { $0 == .failure(.wrongCode) } == 77)
    }

    @Test("Pairing is refused while the window is closed")
    func aClosedWindowLetsNobodyIn() {
        var pairing = Pairing()
        pairing.run(until: 600)
        #expect(pairing.others == [.shell(.pairingWindow(isOpen: true)), .shell(.pairingWindow(isOpen: false))])
        pairing.pair(first, at: 601)
        #expect(pairing.results[first] == .failure(.windowClosed))
        pairing.plug(.record(.buttonPressed(.long)), at: 690)
        #expect(!pairing.server.access.isOpen(at: at(690)), "a long press of one second does not open the window")
        pairing.plug(.openPairing, at: 700)
        pairing.pair(second, at: 819)
        #expect(pairing.results[second] == .success(PairedPlug(id: lamp.id, key: plugKey)))
    }

    @Test("A hold of the button while the window is open is reported again, for the windows of other doors")
    func aHoldReopensOtherWindows() {
        var pairing = Pairing()
        let before = pairing.others.count
        pairing.plug(.openPairing, at: 700)
        pairing.plug(.openPairing, at: 710)
        #expect(
            Array(pairing.others.dropFirst(before)) == [
                .shell(.pairingWindow(isOpen: true)), .shell(.pairingWindow(isOpen: true)),
            ])
    }

    @Test("A plug that has a controller starts with a closed pairing window")
    func aPlugThatHasAControllerStartsClosed() {
        var pairing = Pairing(paired: [deskKey])
        pairing.pair(first, at: 1)
        #expect(pairing.results[first] == .failure(.windowClosed))
    }

    @Test("A man in the middle cannot pair")
    func aManInTheMiddleGetsNothing() {
        // The attacker shows a different key to each side and forwards their messages.
        var pairing = Pairing()
        pairing.pair(first, seen: PublicKey(bytes: [6])!, at: 1)
        #expect(pairing.results[first] == .failure(.wrongCode))
        #expect(pairing.server.access.controllers.all.isEmpty)
    }

    @Test("A proof for a different connection is not valid")
    func aProofOfAnotherConnectionIsNone() {
        var proof: [UInt8] = []
        var session = PairingSession(name: "Tablet", code: setupCode)
        _ = session.handle(
            .connected(plugKey: plugKey, ownKey: strangerKey, nonce: [UInt8](repeating: 9, count: 32)), now: .zero)
        let challenge = plugFrame {
            $0.pairingChallenge.plugID = lamp.id.rawValue
            $0.pairingChallenge.nonce = .init(repeating: 1, count: 32)
        }
        for case .send(let bytes) in session.handle(.received(challenge), now: .zero) { proof = bytes }
        #expect(!proof.isEmpty)

        // The plug draws a new nonce for each connection.
        var bench = Bench(paired: [])
        bench.handle(.record(.restarted(powerLost: true)))
        bench.handle(opening(second, key: strangerKey))
        bench.say(on: second) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = "Tablet"
            $0.pairingRequest.nonce = .init(repeating: 9, count: 32)
        }
        bench.handle(.received(second, proof))
        #expect(bench.take(second).compactMap(\.goodbyeReason) == [.wrongCode])
    }

    @Test("A controller does not pin the key of a plug that does not prove its knowledge of the code")
    func whoAnswersWithoutKnowingTheCodeIsNotPinned() {
        var session = PairingSession(name: "Tablet", code: setupCode)
        _ = session.handle(
            .connected(plugKey: plugKey, ownKey: strangerKey, nonce: [UInt8](repeating: 9, count: 32)), now: .zero)
        let answers =
            plugFrame {
                $0.pairingChallenge.plugID = lamp.id.rawValue
                $0.pairingChallenge.nonce = .init(repeating: 1, count: 32)
            } + plugFrame { $0.pairingProof.proof = .init(repeating: 0, count: 32) }
        let actions = session.handle(.received(answers), now: .zero)
        #expect(actions.last == .finish(.failure(.notThePlug)))
    }

    @Test("Pairing with a silent plug times out after 90 seconds")
    func aPlugThatSaysNothingIsGivenUp() {
        var session = PairingSession(name: "Tablet", code: setupCode)
        _ = session.handle(
            .connected(plugKey: plugKey, ownKey: strangerKey, nonce: [UInt8](repeating: 9, count: 32)), now: .zero)
        #expect(session.nextDeadline == at(90))
        let actions = session.handle(.deadlineReached, now: at(90))
        #expect(actions == [.close, .finish(.failure(.silent))])
        #expect(session.nextDeadline == nil)
    }
}

@Suite struct AccessTests {
    @Test("An unpaired controller receives only a refusal")
    func anUnpairedControllerGetsNothingButARefusal() {
        var bench = Bench()
        bench.handle(opening(first, key: strangerKey))
        bench.say {
            $0.hello.version = 1
            $0.hello.controller = "Desk"
        }
        let answers = bench.take()
        #expect(answers.count == 1)
        #expect(answers.first?.goodbyeReason == .notPaired)
        #expect(bench.server.connections.isEmpty)
    }

    @Test("The sessions of a removed controller close at once")
    func aRemovedControllersSessionsCloseAtOnce() {
        var bench = Bench(paired: [deskKey, strangerKey])
        bench.greet(first)
        bench.greet(second, key: strangerKey)
        let actions = bench.say { $0.removeController.fingerprint = strangerKey.fingerprint }
        #expect(
            actions == [
                .keep(access().controllers), .shell(.close(second, .ended(.notPaired))),
                .record(.controllerRemoved(name: "Desk 2")),
            ])
        #expect(bench.take(second).compactMap(\.goodbyeReason) == [.notPaired])
        let answers = bench.take()
        guard case .controllers(let list) = answers.last else {
            Issue.record("no list of controllers was sent")
            return
        }
        #expect(list.controllers.map(\.fingerprint) == [deskKey.fingerprint])
        #expect(list.controllers.map(\.asker) == [true])
        #expect(list.controllers.map(\.connected) == [true])
    }

    @Test("A controller that removes itself is disconnected")
    func whoRemovesItselfIsClosed() {
        var bench = Bench(paired: [deskKey, ownerKey])
        bench.greet()
        bench.say { $0.removeController.fingerprint = deskKey.fingerprint }
        #expect(bench.take().compactMap(\.goodbyeReason) == [.notPaired])
        #expect(bench.server.access.controllers.all.map(\.key) == [ownerKey])
    }

    @Test("Unpaired connections do not use up the places of paired controllers")
    func strangersDoNotTakeThePlacesOfThePaired() {
        var bench = Bench()
        for number in 10..<50 { bench.handle(opening(ConnectionID(rawValue: UInt64(number)), key: strangerKey)) }
        #expect(bench.server.connections.count == 8)
        bench.greet()
        #expect(bench.server.connections.last?.controller == "Desk")
    }
}
