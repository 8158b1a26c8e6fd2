import Crypto
import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Rotation of a controller's key: the new key is announced in a session with the old key. After the first session with
/// the new key, the old key is no longer valid.
@Suite struct KeyTests {
    private let next = P256.Signing.PrivateKey()
    private var nextKey: PublicKey { PublicKey(bytes: next.publicKey.derRepresentation)! }
    private let third = ConnectionID(rawValue: 3)

    /// Announces a key, signed by `signer`, and by `pending` if an announced key is replaced.
    @discardableResult private func announce(
        _ key: PublicKey, _ bench: inout Bench, on connection: ConnectionID = first, of own: PublicKey = deskKey,
        signer: P256.Signing.PrivateKey? = nil, pending: P256.Signing.PrivateKey? = nil, nonce: [UInt8]? = nil,
        at seconds: Double = 0
    ) -> [PlugServer.Action] {
        let announcement = KeyAnnouncement(
            plug: bench.server.identity.id, key: own, nextKey: key,
            nonce: nonce ?? bench.server.sessions[connection]?.nonce ?? [])
        let signature = { (key: P256.Signing.PrivateKey?) in
            key.flatMap { try? $0.signature(for: announcement.bytes).derRepresentation } ?? .init()
        }
        return bench.say(on: connection, at: seconds) {
            $0.announceKey.key = .init(key.bytes)
            $0.announceKey.signature = signature(signer ?? next)
            $0.announceKey.pendingSignature = signature(pending)
        }
    }

    private func isAccepted(_ bench: inout Bench, on connection: ConnectionID = first) -> Bool {
        bench.take(connection).contains { if case .keyAccepted = $0 { true } else { false } }
    }

    private func refusal(_ bench: inout Bench, on connection: ConnectionID = first) -> Refusal.Code? {
        for case .refused(let wire) in bench.take(connection) where wire.request == "announce_key" {
            return wire.code.model
        }
        return nil
    }

    /// Returns true if the plug answers a Hello with this key with Welcome.
    private func isWelcome(_ key: PublicKey, _ bench: inout Bench, on connection: ConnectionID) -> Bool {
        bench.handle(opening(connection, peer: "test", key: key))
        bench.say(on: connection) {
            $0.hello.version = 1
            $0.hello.controller = "Desk"
        }
        return bench.take(connection).contains { if case .welcome = $0 { true } else { false } }
    }

    private func turnOn(_ bench: inout Bench, _ number: UInt8, on connection: ConnectionID) -> Int {
        let actions = bench.say(on: connection) {
            $0.command = WireCommand(.setRelay(on: true, autoOff: nil), request: request(number), within: .seconds(2))
        }
        return actions.count { if case .perform = $0 { true } else { false } }
    }

    @Test("The old key remains valid until the new one is used")
    func eitherKeyCountsUntilTheNewOneIsUsed() throws {
        var bench = Bench()
        bench.greet(first)
        let kept = announce(nextKey, &bench).compactMap { action -> PairedControllers? in
            if case .keep(let controllers) = action { controllers } else { nil }
        }
        #expect(isAccepted(&bench))
        #expect(kept.map { $0.all.map(\.nextKey) } == [[nextKey]], "the key is stored before it is confirmed")
        #expect(isWelcome(deskKey, &bench, on: second), "the old key is still valid")
        #expect(isWelcome(nextKey, &bench, on: third))
        for old in [first, second] {
            #expect(bench.take(old).compactMap(\.goodbyeReason) == [.stopping])
        }
        let controllers = bench.server.access.controllers
        #expect(controllers.all.map(\.key) == [nextKey] && controllers.all.map(\.nextKey) == [nil])
        #expect(!isWelcome(deskKey, &bench, on: ConnectionID(rawValue: 4)), "the old key is no longer valid")
    }

    @Test("A command repeated with the new key is not executed twice")
    func aCommandThatComesAgainUnderTheNewKeyIsNotDoneTwice() {
        var bench = Bench()
        bench.greet(first)
        #expect(turnOn(&bench, 1, on: first) == 1)
        bench.handle(.commandOutcome(command(1), .done(PlugState(relayOn: true), event: nil)))
        _ = announce(nextKey, &bench)
        #expect(isWelcome(nextKey, &bench, on: second))
        #expect(turnOn(&bench, 1, on: second) == 0)
        let answers = bench.take(second).filter { if case .result = $0 { true } else { false } }
        #expect(answers.count == 1)
        #expect(turnOn(&bench, 2, on: second) == 1)
    }

    @Test("A controller that pairs with another controller's former key gets a different authority")
    func whoeverGetsTheOldKeyAndPairsIsNotTheControllerThatHadIt() {
        var bench = Bench(paired: [deskKey])
        bench.greet(first)
        _ = announce(nextKey, &bench)
        #expect(isWelcome(nextKey, &bench, on: second))
        var controllers = bench.server.access.controllers
        let isAdded = controllers.add(PairedControllers.Controller(key: deskKey, name: "Thief"))
        #expect(isAdded && controllers.all.count == 2)
        #expect(Set(controllers.all.map(\.authority)).count == 2)
    }

    @Test("A key of another controller cannot be announced")
    func nobodyAnnouncesTheKeyOfAnother() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        announce(otherKey, &bench)
        #expect(refusal(&bench) == .outOfRange)
        bench.greet(second, key: otherKey)
        announce(nextKey, &bench)
        #expect(isAccepted(&bench))
        announce(nextKey, &bench, on: second, of: otherKey)
        #expect(refusal(&bench, on: second) == .outOfRange)
        #expect(bench.server.access.controllers.all.map(\.nextKey) == [nextKey, nil])
    }

    @Test("A key without a valid signature of its holder is refused")
    func unprovedKeysAreRefused() {
        var bench = Bench()
        bench.greet(first)
        announce(nextKey, &bench, signer: P256.Signing.PrivateKey())
        #expect(refusal(&bench) == .outOfRange, "signed with a different key")
        announce(nextKey, &bench, nonce: Array(repeating: 0, count: 32))
        #expect(refusal(&bench) == .outOfRange, "signed for a different connection")
        announce(nextKey, &bench, of: otherKey)
        #expect(refusal(&bench) == .outOfRange, "signed for a different controller")
        announce(PublicKey(bytes: Array(repeating: 7, count: 512))!, &bench)
        #expect(refusal(&bench) == .outOfRange, "not a key")
        announce(bench.server.access.key, &bench)
        #expect(refusal(&bench) == .outOfRange, "the plug's own key")
        #expect(bench.server.access.controllers.all.map(\.nextKey) == [nil])
    }

    @Test("An announced key is replaced only if it signs the new announcement, and the audit log records both attempts")
    func onlyTheAuthorReplacesAnAnnouncement() {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        announce(nextKey, &bench)
        let thief = P256.Signing.PrivateKey()
        let thiefsKey = PublicKey(bytes: thief.publicKey.derRepresentation)!
        announce(thiefsKey, &bench, on: second, signer: thief)
        #expect(refusal(&bench, on: second) == .outOfRange)
        #expect(bench.server.access.controllers.all.map(\.nextKey) == [nextKey])
        #expect(bench.server.notes.map(\.kind) == [.refused])
        announce(thiefsKey, &bench, signer: thief, pending: next)
        let owner = PairedControllers.Controller(key: deskKey, name: "Desk").auditActor
        #expect(bench.server.notes == [AuditNote(.keyRotated, by: owner, PlugServer.replacedKeyDetail)])
        #expect(isAccepted(&bench) && bench.server.access.controllers.all.map(\.nextKey) == [thiefsKey])
    }

    @Test("A repeated announcement is accepted without a write")
    func repeatedAnnouncementsCoalesce() {
        var bench = Bench()
        bench.greet(first)
        announce(nextKey, &bench)
        for _ in 0..<100 {
            let actions = announce(nextKey, &bench)
            #expect(isAccepted(&bench) && !actions.contains { if case .keep = $0 { true } else { false } })
        }
    }

    @Test("An owner's announcements in a loop are accepted at most 6 times at once and 24 times per hour")
    func announcementsHaveABudget() {
        var bench = Bench()
        bench.greet(first)
        var (writes, pending) = (0, nil as P256.Signing.PrivateKey?)
        for second in 0..<3600 {
            let key = P256.Signing.PrivateKey()
            let actions = announce(
                PublicKey(bytes: key.publicKey.derRepresentation)!, &bench, signer: key, pending: pending,
                at: Double(second))
            guard actions.contains(where: { if case .keep = $0 { true } else { false } }) else { continue }
            (writes, pending) = (writes + 1, key)
            #expect(second >= 6 || writes == second + 1)
        }
        #expect((20...24).contains(writes), "\(writes) announcements in an hour")
    }

    @Test("Announcements with a wrong signature use up the budget, so that few signatures are verified")
    func wrongSignaturesHaveABudget() {
        var bench = Bench()
        bench.greet(first)
        let stranger = P256.Signing.PrivateKey()
        var verified = 0
        for second in 0..<3600 {
            announce(nextKey, &bench, signer: stranger, at: Double(second))
            switch refusal(&bench) {
            case .outOfRange: verified += 1
            case let code: #expect(code == .busy)
            }
        }
        #expect((20...24).contains(verified), "\(verified) signatures in an hour")
    }

    @Test("A Hello with an invalid name leaves the old key and the other sessions unchanged")
    func aMalformedHelloChangesNothing() {
        var bench = Bench(paired: [ownerKey, deskKey])
        bench.greet(third, key: ownerKey)
        bench.greet(first)
        announce(nextKey, &bench)
        bench.handle(opening(second, peer: "test", key: nextKey))
        bench.say(on: second) {
            $0.hello.version = 1
            $0.hello.controller = String(repeating: "n", count: 64)
        }
        #expect(bench.take(second).compactMap(\.goodbyeReason) == [.malformed])
        #expect(bench.server.connections.map(\.id) == [third, first])
        #expect(bench.server.access.controllers[deskKey]?.nextKey == nextKey, "the announcement is still valid")
    }

    @Test("A controller that announces its current key withdraws its earlier announcement")
    func theKeyInUseAnnouncedAgainTakesTheAnnouncementBack() {
        var bench = Bench()
        bench.greet(first)
        _ = announce(nextKey, &bench)
        announce(deskKey, &bench, pending: next)
        #expect(bench.server.access.controllers.all.map(\.nextKey) == [nil])
        #expect(!isWelcome(nextKey, &bench, on: second))
    }

    @Test("A removed controller loses both keys")
    func aRemovedControllerLosesBothKeys() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        _ = announce(nextKey, &bench)
        bench.greet(second, key: otherKey)
        bench.say(on: second) { $0.removeController.fingerprint = deskKey.fingerprint }
        for (number, key) in [deskKey, nextKey].enumerated() {
            #expect(!isWelcome(key, &bench, on: ConnectionID(rawValue: 10 + UInt64(number))))
        }
    }

    @Test("A key of an invalid length ends the session", arguments: [0, PublicKey.longest + 1])
    func whatIsNoKeyEndsTheSession(length: Int) {
        var bench = Bench()
        bench.greet(first)
        bench.say { $0.announceKey.key = .init(repeating: 1, count: length) }
        #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
    }
}

/// Rotation of the plug's key: every controller gets the next key, and confirms it.
@Suite struct PlugKeyTests {
    private let nextKey = PublicKey(bytes: [9, 9])!

    private func told(_ bench: inout Bench, on connection: ConnectionID = first) -> [[UInt8]] {
        bench.take(connection).compactMap { if case .nextKey(let wire) = $0 { Array(wire.key) } else { nil } }
    }

    private func strangers(_ bench: Bench) -> [PublicKey] {
        bench.server.access.controllers.delaying(nextKey, announcedFor: .zero).map(\.key)
    }

    @Test("Current and later sessions get the plug's next key")
    func everySessionIsToldThoseOfNowAndThoseThatCome() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        bench.handle(.nextKey(nextKey))
        #expect(told(&bench) == [nextKey.bytes])
        bench.handle(opening(second, key: otherKey))
        bench.say(on: second) {
            $0.hello.version = 1
            $0.hello.controller = "Phone"
        }
        #expect(told(&bench, on: second) == [nextKey.bytes])
        #expect(strangers(bench) == [deskKey, otherKey])
    }

    @Test("A confirmation of a different key than the plug's next key is ignored")
    func itIsCountedWhoHasStoredThisVeryKey() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        bench.handle(.nextKey(nextKey))
        bench.say { $0.nextKeyKept.key = .init(otherKey.bytes) }
        #expect(strangers(bench) == [deskKey, otherKey])
        let kept = bench.say { $0.nextKeyKept.key = .init(nextKey.bytes) }
        #expect(kept.contains { if case .keep = $0 { true } else { false } })
        #expect(strangers(bench) == [otherKey])
        // A next key that is announced later has no confirmations yet.
        #expect(bench.server.access.controllers.delaying(ownerKey, announcedFor: .zero).count == 2)
    }

    @Test("A key rotation of the plug waits one day for a viewer's confirmation, and forever for an owner's")
    func guestsDelayARotationForADay() {
        let owner = PairedControllers.Controller(key: deskKey, name: "Desk")
        let viewer = PairedControllers.Controller(key: otherKey, name: "Guest", role: .viewer)
        let controllers = PairedControllers([owner, viewer])
        let day = PairedControllers.guestRotationTime
        #expect(controllers.delaying(nextKey, announcedFor: day - .seconds(1)) == [owner, viewer])
        #expect(controllers.delaying(nextKey, announcedFor: day) == [owner])
    }

    @Test("The next key becomes the plug's key when it is activated")
    func theNextKeyIsThePlugsOnceItTurns() {
        var bench = Bench()
        bench.greet(first)
        bench.handle(.nextKey(nextKey))
        bench.handle(.keyTurned)
        #expect(bench.server.access.key == nextKey && bench.server.access.nextKey == nil)
        #expect(bench.server.notes.map(\.kind) == [.keyRotated])
        bench.greet(second)
        #expect(told(&bench, on: second).isEmpty)
    }
}
