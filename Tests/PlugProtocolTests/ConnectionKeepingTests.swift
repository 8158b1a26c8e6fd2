import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

/// The controller's detection of dead connections.
@Suite struct ConnectionKeepingTests {
    private typealias Seat = ControllerSessionTests.Seat

    private func goodbye(_ seat: Seat) -> Goodbye? {
        guard case .ended(.ended(let goodbye)) = seat.updates.last else { return nil }
        return goodbye
    }

    @Test("A probed connection ends after five seconds of silence")
    func aConnectionInDoubtHasFiveSecondsForASignOfLife() {
        var seat = Seat.welcomed(at: 100)
        seat.handle(.probe, at: 103)
        #expect(seat.sent == [.ping(.with(token: 1))])
        #expect(seat.session.nextDeadline == at(108))
        seat.handle(.deadlineReached, at: 107.9)
        #expect(goodbye(seat) == nil)
        seat.handle(.deadlineReached, at: 108)
        #expect(goodbye(seat) == Goodbye(.silent, "Nothing was received for 5 s."))
        #expect(seat.session.nextDeadline == nil)
    }

    @Test("Any message of the plug ends the probe")
    func anyWordOfThePlugEndsTheDoubt() {
        var seat = Seat.welcomed(at: 100)
        seat.handle(.probe, at: 103)
        seat.hear(at: 104) { $0.state.state = WireState(PlugState(relayOn: true)) }
        #expect(seat.session.nextDeadline == at(123))
        seat.handle(.deadlineReached, at: 122)
        #expect(goodbye(seat) == nil)
    }

    @Test("Repeated probes send one Ping and keep the first deadline")
    func whoDoubtsAgainMeanwhileAsksOnce() {
        var seat = Seat.welcomed(at: 100)
        for second in 0..<4 { seat.handle(.probe, at: 103 + Double(second)) }
        #expect(seat.sent.count == 1)
        seat.handle(.deadlineReached, at: 108)
        #expect(goodbye(seat)?.reason == .silent, "the deadline is five seconds after the first probe")
    }

    @Test("A connection can be probed before Welcome")
    func evenBeforeTheWelcomeAConnectionMayBeDoubted() {
        var seat = Seat()
        seat.handle(.connected, at: 100)
        seat.handle(.probe, at: 101)
        seat.handle(.deadlineReached, at: 106)
        #expect(goodbye(seat)?.reason == .silent)
    }

    @Test("Silence does not end a connection while nothing is read")
    func whileNothingIsReadSilenceProvesNothing() {
        var seat = Seat.welcomed(at: 100)
        seat.handle(.reading(false), at: 110)
        seat.handle(.probe, at: 111)
        for second in stride(from: 120.0, through: 600, by: 20) { seat.handle(.deadlineReached, at: second) }
        #expect(seat.updates.isEmpty)
        #expect(seat.sent.count > 20, "the controller still sends Pings")
        // The data that arrived meanwhile is read now, and the probe starts again.
        seat.handle(.reading(true), at: 601)
        #expect(seat.updates.isEmpty)
        seat.handle(.deadlineReached, at: 605)
        #expect(seat.updates.isEmpty)
        seat.handle(.deadlineReached, at: 606)
        #expect(goodbye(seat)?.reason == .silent)
    }

    @Test("A controller that sends often still sends Pings")
    func aChattyControllerPingsAllTheSame() {
        var seat = Seat.welcomed(at: 100)
        for second in 1...44 { seat.handle(.request(.acknowledge(1)), at: 100 + Double(second)) }
        let pings = seat.sent.filter { if case .ping = $0 { true } else { false } }
        #expect(pings.count == 2, "the Pongs carry the plug's time")
    }

    // MARK: The plug's clock

    private func pong(_ token: UInt64, plugTime: Double?, to seat: inout Seat, at seconds: Double) {
        seat.hear(at: seconds) {
            $0.pong.token = token
            if let plugTime { $0.pong.plugTime = UInt64(plugTime * 1e9) }
        }
    }

    @Test("A shorter round trip improves the estimate of the plug's clock")
    func aShorterRoundTripTellsThePlugsTimeBetter() {
        var seat = Seat()
        seat.handle(.connected, at: 100)
        // With a round trip of 2 s, the offset lies between 90 and 92 s.
        seat.hear(at: 102) { $0.welcome = WireWelcome(lamp, now: at(10)) }
        #expect(seat.session.clock?.offset == .seconds(91))
        #expect(seat.session.clock?.uncertainty == .seconds(1))
        seat.handle(.deadlineReached, at: 120)
        pong(1, plugTime: 29.5, to: &seat, at: 120.1)
        let clock = seat.session.clock!
        #expect(abs((clock.instant(ofPlugTime: at(29.5)) - at(120.05)).inSeconds) < 0.051)
        #expect(clock.uncertainty <= .milliseconds(50))
        // A later slow round trip adds only the possible drift of the clocks to the uncertainty.
        seat.handle(.deadlineReached, at: 140)
        pong(2, plugTime: 50, to: &seat, at: 143)
        #expect(seat.session.clock!.uncertainty < .milliseconds(60))
    }

    @Test("A Pong with an unknown token or without a time does not change the clock estimate")
    func aPongToAnEarlierPingOrWithoutATimeTellsNothing() {
        var seat = Seat.welcomed(at: 100)
        let before = seat.session.clock
        seat.handle(.deadlineReached, at: 120)
        pong(7, plugTime: 3, to: &seat, at: 121)
        pong(1, plugTime: nil, to: &seat, at: 121)
        #expect(seat.session.clock == before && before != nil)
    }

    @Test("The clock estimate of an earlier session is kept for the same boot")
    func whatAnEarlierSessionFoundOutIsKeptForTheSameBoot() {
        let fine = ClockMapping(boot: boot, plugTime: at(10), asked: at(100), answered: at(100.002))
        for (boot, expected) in [(boot, Duration.milliseconds(3)), (otherBoot, .seconds(1))] {
            var identity = lamp
            identity.boot = boot
            var seat = Seat()
            seat.session = ControllerSession(name: "Desk", clock: fine)
            seat.handle(.connected, at: 104)
            seat.hear(at: 106) { $0.welcome = WireWelcome(identity, now: at(15)) }
            #expect(seat.session.clock!.uncertainty <= expected)
            #expect(seat.session.clock!.boot == boot)
        }
    }

    @Test("If two measurements contradict each other, the later one is kept")
    func measurementsThatContradictEachOtherLeaveTheLaterOne() {
        let first = ClockMapping(boot: boot, plugTime: at(0), asked: at(10), answered: at(10))
        let later = ClockMapping(boot: boot, plugTime: at(10), asked: at(30), answered: at(30))
        #expect(first.refined(by: later) == later)
    }

    /// The round trips and the drift of the plug's clock are random.
    @Test("The clock estimate always contains the true offset", arguments: 0..<50)
    func theTrueOffsetIsNeverLost(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rate = 1 + Double.random(in: -0.000_1...0.000_1, using: &random)
        var clock: ClockMapping?
        var now = 1000.0
        for _ in 0..<200 {
            let asked = now
            let (there, back) = (Double.random(in: 0...0.3, using: &random), Double.random(in: 0...0.3, using: &random))
            now += there + back
            let measured = ClockMapping(
                boot: boot, plugTime: at((asked + there - 900) * rate), asked: at(asked), answered: at(now))
            clock = clock?.refined(by: measured) ?? measured
            let error = clock!.instant(ofPlugTime: at((now - 900) * rate)) - at(now)
            #expect(abs(error.inSeconds) <= clock!.uncertainty(at: at(now)).inSeconds + 1e-6)
            now += 20
        }
        #expect(clock!.uncertainty < .milliseconds(100))
    }
}
