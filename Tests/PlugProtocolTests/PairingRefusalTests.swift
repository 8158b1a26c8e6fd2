import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

/// The ways in which a plug refuses to pair: each sends a Goodbye and stores no new controller.
@Suite struct PairingRefusalTests {
    private static let nonce = [UInt8](repeating: 9, count: 32)

    /// A plug with an open pairing window, paired with the controllers of these keys, and one unpaired connection.
    private func bench(paired keys: [PublicKey] = []) -> Bench {
        var bench = Bench(paired: keys)
        bench.handle(.record(.restarted(powerLost: true)))
        if !keys.isEmpty { bench.handle(.openPairing) }
        bench.handle(opening(first, key: strangerKey))
        return bench
    }

    private func ask(_ bench: inout Bench, at seconds: Double = 0) {
        bench.say(at: seconds) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = "Tablet"
            $0.pairingRequest.nonce = .init(Self.nonce)
        }
    }

    private func prove(_ bench: inout Bench, code: SetupCode = setupCode, at seconds: Double = 0) {
        let transcript = PairingTranscript(
            version: 1, plug: lamp.id, plugKey: plugKey, controllerKey: strangerKey,
            plugNonce: [UInt8](repeating: 1, count: 32), controllerNonce: Self.nonce)
        bench.say(at: seconds) { $0.pairingProof.proof = .init(transcript.proof(of: .controller, code: code)) }
    }

    private func keys(_ count: UInt8) -> [PublicKey] { (0..<count).map { PublicKey(bytes: [9, $0])! } }

    @Test("The seventeenth controller is refused, which does not count as a failed pairing")
    func theSeventeenthControllerIsRefusedAndIsNoFailure() {
        var full = bench(paired: keys(16))
        ask(&full)
        _ = full.take()
        let actions = full.say { $0.pairingProof.proof = .init(repeating: 0, count: 32) }
        #expect(actions.contains(.record(.pairingFailed(failures: 1))), "a wrong proof counts as a failed pairing")

        full = bench(paired: keys(16))
        let before = full.server.access.controllers
        ask(&full)
        _ = full.take()
        prove(&full)
        let words = "The plug already has 16 controllers; remove one first."
        #expect(full.take() == [.goodbye(WireGoodbye(Goodbye(.limit, words)))])
        #expect(full.server.access.controllers == before)
        #expect(full.server.journal.nextSequence == 2, "no pairing was recorded")

        var other = bench(paired: keys(15))
        ask(&other)
        prove(&other)
        #expect(other.server.access.controllers.all.count == 16)
    }

    @Test("After the challenge only a proof is accepted")
    func afterTheChallengeComesNothingButTheProof() {
        let others: [@Sendable (inout WireControllerMessage) -> Void] = [
            { $0.hello.version = 1 }, { $0.pairingRequest.version = 1 }, { $0.ping.token = 1 },
            { $0.command.setRelay.on = true }, { $0.listControllers = WireListControllers() },
            { $0.factoryReset = WireFactoryReset() },
        ]
        for other in others {
            var challenged = bench()
            ask(&challenged)
            _ = challenged.take()
            challenged.say(other)
            #expect(
                challenged.take()
                    == [.goodbye(WireGoodbye(Goodbye(.outOfOrder, "The challenge must be followed by the proof.")))])
            #expect(challenged.server.connections.isEmpty)
        }
    }

    @Test("While a proof waits, no other message is accepted")
    func whileAProofWaitsNothingElseIsTaken() {
        var waiting = bench()
        waiting.handle(opening(second, key: strangerKey))
        waiting.say(on: second) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = "Tablet"
            $0.pairingRequest.nonce = .init(Self.nonce)
        }
        waiting.say(on: second) { $0.pairingProof.proof = .init(repeating: 0, count: 32) }
        #expect(waiting.take(second).last?.goodbyeReason == .wrongCode)
        ask(&waiting)
        prove(&waiting)
        _ = waiting.take()
        prove(&waiting)
        let early = Goodbye(.outOfOrder, "A message arrived before the proof was answered.")
        #expect(waiting.take() == [.goodbye(WireGoodbye(early))])
        _ = waiting.run(until: 100)
        #expect(waiting.server.access.controllers.all.isEmpty, "the waiting proof was dropped with its connection")
    }

    @Test("A controller in another network cannot pair, but can use the plug once it is paired")
    func distantController() {
        var bench = Bench(paired: [])
        bench.handle(.record(.restarted(powerLost: true)))
        let nonce = [UInt8](repeating: 1, count: 32)
        bench.handle(.opened(PlugServer.Opening(first, peer: "far", key: strangerKey, nonce: nonce, isLocal: false)))
        ask(&bench)
        #expect(bench.take() == [.goodbye(WireGoodbye(.distant))])
        #expect(Goodbye.distant.detail.hasPrefix("A plug pairs only with controllers in its own network."))
        #expect(bench.server.access.controllers.all.isEmpty && bench.server.access.isOpen(at: .zero))
    }

    @Test("A challenged connection without a proof ends 45 seconds after it opened")
    func whoIsChallengedAndProvesNothingIsLeftAfter45SecondsOfItsConnection() {
        var idle = bench()
        ask(&idle, at: 30)
        _ = idle.take()
        _ = idle.run(until: 44.9)
        #expect(idle.take().isEmpty)
        _ = idle.run(until: 45)
        #expect(idle.take().map(\.goodbyeReason) == [.silent])
    }

    @Test("A proof that waits until the window closes is not checked")
    func aProofThatWaitedUntilTheWindowClosedIsNotLookedAt() {
        var late = bench()
        for number in 2...8 as ClosedRange<UInt64> {
            late.handle(opening(ConnectionID(rawValue: number), key: strangerKey), at: 590)
            late.say(on: ConnectionID(rawValue: number), at: 590) {
                $0.pairingRequest.version = 1
                $0.pairingRequest.controller = "Tablet"
                $0.pairingRequest.nonce = .init(Self.nonce)
            }
            late.say(on: ConnectionID(rawValue: number), at: 590) { $0.pairingProof.proof = .init([0]) }
        }
        _ = late.run(until: 591)
        late.handle(.closed(first), at: 591)
        late.handle(opening(first, key: strangerKey), at: 591)
        // After seven wrong proofs this proof has to wait 30 s. The new plug's window closes at 600 s, before the proof
        // is checked.
        ask(&late, at: 591)
        prove(&late, at: 591)
        _ = late.take()
        _ = late.run(until: 640)
        #expect(late.take().map(\.goodbyeReason) == [.pairingClosed])
        #expect(late.server.access.controllers.all.isEmpty)
    }

    @Test("A request of another version is refused, and the message names the side to update")
    func anotherVersionIsToldWhichSideToUpdate() {
        for (version, side) in [(0, "the controller"), (2, "the plug's firmware")] as [(UInt32, String)] {
            var bench = bench()
            bench.say { $0.pairingRequest.version = version }
            let words = "The plug uses protocol version 1, the controller version \(version): update \(side)."
            #expect(bench.take() == [.goodbye(WireGoodbye(Goodbye(.version, words)))])
        }
    }

    @Test("Nonces of a wrong length and invalid names are malformed")
    func aNonceOfAnotherLengthAndALongNameAreMalformed() {
        for length in [0, 31, 33] {
            var bench = bench()
            bench.say {
                $0.pairingRequest.version = 1
                $0.pairingRequest.controller = "Tablet"
                $0.pairingRequest.nonce = .init(repeating: 1, count: length)
            }
            #expect(bench.take().map(\.goodbyeReason) == [.malformed])
        }
        var named = bench()
        named.say {
            $0.pairingRequest.version = 1
            $0.pairingRequest.nonce = .init(Self.nonce)
            $0.pairingRequest.controller = String(repeating: "x", count: 64)
        }
        #expect(named.take().map(\.goodbyeReason) == [.malformed])
        for name in ["", " ", "Ta\u{200B}blet", "\u{202E}telbaT", "Tablet\u{2028}", "Tab\nlet", "\u{FEFF}"] {
            var named = bench()
            named.say {
                $0.pairingRequest.version = 1
                $0.pairingRequest.nonce = .init(Self.nonce)
                $0.pairingRequest.controller = name
            }
            #expect(named.take().map(\.goodbyeReason) == [.malformed], "\(name.debugDescription)")
        }
    }

    @Test("A proof of a wrong length counts as a wrong one")
    func aProofOfAnotherLengthIsAWrongOne() {
        for length in [0, 31, 33, 60_000] {
            var bench = bench()
            ask(&bench)
            _ = bench.take()
            bench.say { $0.pairingProof.proof = .init(repeating: 0, count: length) }
            #expect(bench.take().map(\.goodbyeReason) == [.wrongCode])
        }
    }
}
