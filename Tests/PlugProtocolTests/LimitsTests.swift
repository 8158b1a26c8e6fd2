import ProtocolCore
import Testing

import PlugModel

@testable import PlugProtocol

/// The behaviour beyond each limit of the protocol, with the exact messages for users. The table in smartplug.proto has
/// the same limits.
@Suite struct LimitsTests {
    private typealias Seat = ControllerSessionTests.Seat

    private func goodbye(_ bench: inout Bench, _ connection: ConnectionID = first) -> Goodbye? {
        bench.take(connection).compactMap { kind -> Goodbye? in
            guard case .goodbye(let wire) = kind else { return nil }
            return wire.model
        }.last
    }

    /// Attack class: an accepted controller uses up a shared resource.
    @Test("The seventeenth connection of a controller is refused")
    func theSeventeenthConnectionOfAControllerIsSentAway() {
        var bench = Bench()
        for number in 1...17 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number)) }
        _ = bench.handle(opening(ConnectionID(rawValue: 18)))
        let words = "This controller already has 16 connections; close one."
        #expect(goodbye(&bench, ConnectionID(rawValue: 18)) == Goodbye(.limit, words))
        #expect(bench.server.connections.count == 16)
    }

    /// Attack class: two controllers use up all connections, so that an owner cannot connect to remove them.
    @Test(
        "A new controller displaces a connection of the controller that has the most of the 32 connections")
    func whoHasMostGivesAPlaceToWhoHasNone() {
        var bench = Bench(paired: [deskKey, otherKey, ownerKey])
        for number in 1...16 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number)) }
        for number in 17...32 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number), key: otherKey) }
        let owner = ConnectionID(rawValue: 33)
        bench.greet(owner, key: ownerKey)
        let words = "The plug has 32 connections, 16 from this controller; a different controller needed one."
        #expect(goodbye(&bench, ConnectionID(rawValue: 32)) == Goodbye(.limit, words))
        bench.say(on: owner) { $0.removeController.fingerprint = otherKey.fingerprint }
        #expect(bench.server.connections.count == 17)
        #expect(bench.server.connections.last?.id == owner)
    }

    /// Attack class: an accepted controller uses up a shared resource.
    @Test("The 33rd fetch of a controller ends its session")
    func theThirtyThirdFetchOfAControllerEndsItsSession() {
        var bench = Bench(paired: [deskKey, otherKey])
        for number in 1...3 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number)) }
        let other = ConnectionID(rawValue: 4)
        bench.greet(other, key: otherKey)
        for number in 0..<33 as Range<UInt32> {
            bench.say(on: ConnectionID(rawValue: 1 + UInt64(number) / 16)) {
                $0.fetchSamples.fetchID = number
                $0.fetchSamples.to = 9
            }
        }
        let words = "More than 32 fetches of this controller at the same time."
        #expect(goodbye(&bench, ConnectionID(rawValue: 3)) == Goodbye(.limit, words))
        bench.say(on: other) { $0.fetchSamples.to = 9 }
        #expect(goodbye(&bench, other) == nil)
    }

    @Test("The 33rd connection is refused if its controller is unpaired")
    func theThirtyThirdConnectionIsSentAway() {
        var bench = Bench(paired: [deskKey, otherKey])
        for number in 1...16 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number)) }
        for number in 17...32 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number), key: otherKey) }
        let late = ConnectionID(rawValue: 33)
        let actions = bench.handle(opening(late, key: strangerKey))
        let words = "The plug already has 32 connections; close one."
        #expect(actions == [.shell(.close(late, .ended(Goodbye(.limit, words))))])
        #expect(goodbye(&bench, late) == Goodbye(.limit, words))
        #expect(bench.server.connections.count == 32)
    }

    /// Attack class: a short request with a long answer.
    @Test("A session ends when the answers to requests in one read exceed its limit of unsent bytes")
    func questionsAtOnceGetNoMoreAnswersThanASessionMayHave() {
        var bench = Bench(paired: [deskKey])
        bench.greet()
        let question = controllerFrame { $0.listControllers = WireListControllers() }
        bench.handle(.received(first, Array(repeatElement(question, count: 10_000).joined())))
        let answers = bench.take()
        #expect(answers.last?.goodbyeReason == .limit && answers.count < 2000, "\(answers.count)")
    }

    @Test("The ninth unpaired connection is refused")
    func theNinthStrangerIsSentAway() {
        var bench = Bench()
        for number in 1...9 as ClosedRange<UInt64> {
            bench.handle(opening(ConnectionID(rawValue: number), key: strangerKey))
        }
        let words = "8 unpaired controllers are already connected; try again."
        #expect(goodbye(&bench, ConnectionID(rawValue: 9)) == Goodbye(.limit, words))
        #expect(bench.server.connections.count == 8)
    }

    @Test("The plug refuses the seventeenth command in flight")
    func theSeventeenthCommandInFlightIsRefusedByThePlug() throws {
        var bench = Bench()
        bench.greet()
        for number in 1...17 as ClosedRange<UInt8> {
            bench.say {
                $0.command.requestID = .init(request(number).bytes)
                $0.command.setRelay.on = true
            }
        }
        guard case .result(let result) = bench.take().last else {
            Issue.record("no result was sent")
            return
        }
        let answer = try result.model()
        #expect(answer.0 == request(17))
        #expect(answer.1 == .refused(Refusal(.busy, "Too many commands are waiting at the plug; try again later.")))
    }

    @Test("The seventeenth fetch in flight ends the session")
    func theSeventeenthFetchInFlightEndsTheSession() {
        var bench = Bench()
        bench.greet()
        for fetch in 1...17 as ClosedRange<UInt32> {
            bench.say {
                $0.fetchSamples.fetchID = fetch
                $0.fetchSamples.to = 1
            }
        }
        #expect(goodbye(&bench) == Goodbye(.limit, "More than 16 fetches at the same time."))
    }

    @Test("The controller session does not send a seventeenth fetch")
    func aControllerOfOursAsksForNoSeventeenth() {
        var seat = Seat.welcomed()
        for fetch in 1...17 as ClosedRange<UInt32> { seat.handle(.fetchSamples(fetch, from: at(0), to: at(1))) }
        #expect(seat.sent.count == 16)
        #expect(seat.updates == [.fetchRefused(17)])
    }

    @Test("A frame of more than 64 KiB ends the session on either side")
    func aFrameOfMoreThan64KiBEndsTheSessionOnEitherSide() {
        let words = "the frame at byte 0 announces 65537 bytes; 1 to 65536 are allowed"
        var bench = Bench()
        bench.handle(opening(first))
        bench.handle(.received(first, [0, 1, 0, 1]))
        #expect(goodbye(&bench) == Goodbye(.malformed, words))
        var seat = Seat()
        seat.handle(.connected)
        seat.handle(.received([0, 1, 0, 1]))
        #expect(seat.endDetail == words)
    }

    @Test("A peer that sends requests but never reads is disconnected")
    func whoAsksAndNeverReadsIsSentAway() {
        var bench = Bench()
        bench.greet()
        bench.handle(.writable(first, false))
        var answered = 0
        while bench.server.connections.count == 1, answered < 1_000_000 {
            bench.say { $0.ping.token = 1 << 60 }
            answered += 1
        }
        #expect(goodbye(&bench) == Goodbye(.limit, "The controller left more than 65536 bytes unread."))
        #expect(answered < 10_000)
    }

    @Test("A controller name of more than 63 bytes ends the session")
    func aControllersNameBeyond63BytesEndsTheSession() {
        var bench = Bench()
        bench.handle(opening(first))
        bench.say {
            $0.hello.version = 1
            $0.hello.controller = String(repeating: "x", count: 64)
        }
        #expect(goodbye(&bench)?.reason == .malformed)
    }

    @Test(
        "A plug of another version is disconnected, and the message names the side to update",
        arguments: [(0, "the plug's firmware."), (2, "the controller.")])
    func aPlugOfAnotherVersionIsLeftAndTheWordsSayWhichSideToUpdate(version: UInt32, side: String) {
        var seat = Seat()
        seat.handle(.connected)
        seat.hear {
            $0.welcome = WireWelcome(lamp, now: .zero)
            $0.welcome.version = version
        }
        let words = "The controller uses protocol version 1, the plug version \(version): update \(side)"
        #expect(seat.closed == .ended(Goodbye(.version, words)))
        #expect(seat.endDetail == words)
    }
}
