import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// A controller takes another key: announced under the old one, used from its first session on.
@Suite struct KeyTests {
    private let nextKey = PublicKey(bytes: [9, 9])!
    private let third = ConnectionID(rawValue: 3)

    private func announce(
        _ key: PublicKey, _ bench: inout Bench, on connection: ConnectionID = first
    ) -> [PlugServer.Action] {
        bench.say(on: connection) { $0.announceKey.key = .init(key.bytes) }
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

    /// Whether the plug says Welcome to this key.
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

    @Test func eitherKeyCountsUntilTheNewOneIsUsed() throws {
        var bench = Bench()
        bench.greet(first)
        let kept = announce(nextKey, &bench).compactMap { action -> PairedControllers? in
            if case .keep(let controllers) = action { controllers } else { nil }
        }
        #expect(isAccepted(&bench))
        #expect(kept.map { $0.all.map(\.nextKey) } == [[nextKey]], "flash has it before it is told")
        #expect(isWelcome(deskKey, &bench, on: second), "nothing was lost so far")
        #expect(isWelcome(nextKey, &bench, on: third))
        for old in [first, second] {
            #expect(bench.take(old).compactMap(\.goodbyeReason) == [.stopping])
        }
        let controllers = bench.server.access.controllers
        #expect(controllers.all.map(\.key) == [nextKey] && controllers.all.map(\.nextKey) == [nil])
        #expect(!isWelcome(deskKey, &bench, on: ConnectionID(rawValue: 4)), "the old key opens nothing any more")
    }

    @Test func aCommandThatComesAgainUnderTheNewKeyIsNotDoneTwice() {
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

    @Test func whoeverGetsTheOldKeyAndPairsIsNotTheControllerThatHadIt() {
        var bench = Bench(paired: [deskKey])
        bench.greet(first)
        _ = announce(nextKey, &bench)
        #expect(isWelcome(nextKey, &bench, on: second))
        var controllers = bench.server.access.controllers
        let isAdded = controllers.add(PairedControllers.Controller(key: deskKey, name: "Thief"))
        #expect(isAdded && controllers.all.count == 2)
        #expect(Set(controllers.all.map(\.authority)).count == 2)
    }

    @Test func nobodyAnnouncesTheKeyOfAnother() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        #expect(announce(otherKey, &bench).isEmpty)
        #expect(refusal(&bench) == .outOfRange)
        bench.greet(second, key: otherKey)
        _ = announce(nextKey, &bench)
        #expect(isAccepted(&bench))
        #expect(announce(nextKey, &bench, on: second).isEmpty)
        #expect(refusal(&bench, on: second) == .outOfRange)
    }

    @Test func theKeyInUseAnnouncedAgainTakesTheAnnouncementBack() {
        var bench = Bench()
        bench.greet(first)
        _ = announce(nextKey, &bench)
        _ = announce(deskKey, &bench)
        #expect(bench.server.access.controllers.all.map(\.nextKey) == [nil])
        #expect(!isWelcome(nextKey, &bench, on: second))
    }

    @Test func aRemovedControllerLosesBothKeys() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        _ = announce(nextKey, &bench)
        bench.greet(second, key: otherKey)
        bench.say(on: second) { $0.removeController.fingerprint = deskKey.fingerprint }
        for (number, key) in [deskKey, nextKey].enumerated() {
            #expect(!isWelcome(key, &bench, on: ConnectionID(rawValue: 10 + UInt64(number))))
        }
    }

    @Test(arguments: [0, PublicKey.longest + 1]) func whatIsNoKeyEndsTheSession(length: Int) {
        var bench = Bench()
        bench.greet(first)
        bench.say { $0.announceKey.key = .init(repeating: 1, count: length) }
        #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
    }
}

/// The plug takes another key: every controller is told, and confirms.
@Suite struct PlugKeyTests {
    private let nextKey = PublicKey(bytes: [9, 9])!

    private func told(_ bench: inout Bench, on connection: ConnectionID = first) -> [[UInt8]] {
        bench.take(connection).compactMap { if case .nextKey(let wire) = $0 { Array(wire.key) } else { nil } }
    }

    private func strangers(_ bench: Bench) -> [PublicKey] {
        bench.server.access.controllers.strangers(toPlugsNext: nextKey).map(\.key)
    }

    @Test func everySessionIsToldThoseOfNowAndThoseThatCome() {
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

    @Test func itIsCountedWhoHasStoredThisVeryKey() {
        var bench = Bench(paired: [deskKey, otherKey])
        bench.greet(first)
        bench.handle(.nextKey(nextKey))
        bench.say { $0.nextKeyKept.key = .init(otherKey.bytes) }
        #expect(strangers(bench) == [deskKey, otherKey])
        let kept = bench.say { $0.nextKeyKept.key = .init(nextKey.bytes) }
        #expect(kept.contains { if case .keep = $0 { true } else { false } })
        #expect(strangers(bench) == [otherKey])
        // Of another key that comes later nobody knows.
        #expect(bench.server.access.controllers.strangers(toPlugsNext: ownerKey).count == 2)
    }

    @Test func theNextKeyIsThePlugsOnceItTurns() {
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
