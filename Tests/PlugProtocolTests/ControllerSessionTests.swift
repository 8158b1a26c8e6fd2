import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct ControllerSessionTests {
    /// A session with its sent messages, decoded, and its delivered updates.
    struct Seat {
        var session = ControllerSession(name: "Desk")
        var sent: [WireControllerMessage.OneOf_Kind] = []
        var updates: [SessionUpdate] = []
        var closed: EndReason?
        private var decoder = FrameDecoder()

        mutating func handle(_ event: ControllerSession.Event, at seconds: Double = 0) {
            for action in session.handle(event, now: at(seconds)) {
                switch action {
                case .send(let bytes):
                    decoder.append(bytes)
                    while let message = try? decoder.next(WireControllerMessage.self) { sent.append(message.kind!) }
                case .deliver(let update): updates.append(update)
                case .close(let reason): closed = reason
                }
            }
        }

        mutating func hear(at seconds: Double = 0, _ fill: (inout WirePlugMessage) -> Void) {
            handle(.received(plugFrame(fill)), at: seconds)
        }

        mutating func event(_ sequence: SequenceNumber, time: Double = 0, sentAt: Double = 0, at seconds: Double = 0) {
            let event = PlugEvent(
                sequence: sequence, boot: boot, time: PlugProtocolTests.at(time), kind: .buttonPressed(.single))
            let wire = WireEvent(event, session: boot, now: PlugProtocolTests.at(sentAt))
            hear(at: seconds) { $0.event = wire }
        }

        /// A session that was connected and welcomed at `seconds`, when the plug's clock shows zero.
        static func welcomed(at seconds: Double = 0, _ options: SubscriptionOptions? = nil) -> Seat {
            var seat = Seat()
            seat.handle(.connected, at: seconds)
            seat.hear(at: seconds) { $0.welcome = WireWelcome(lamp, now: .zero) }
            if let options { seat.handle(.subscribe(options), at: seconds) }
            seat.sent = []
            seat.updates = []
            return seat
        }

        mutating func subscribed(next: SequenceNumber, gap: Gap? = nil) {
            hear { $0.subscribed = WireSubscribed(next: next, gap: gap) }
        }

        var sequences: [SequenceNumber] {
            updates.compactMap { update in
                guard case .event(let event, _) = update else { return nil }
                return event.sequence
            }
        }

        var endDetail: String? {
            guard case .ended(.ended(let goodbye)) = updates.last else { return nil }
            return goodbye.detail
        }
    }

    @Test("Hello is sent first, and Welcome yields the plug's description and clock")
    func helloGoesFirstAndWelcomeTellsThePlugAndItsClock() {
        var seat = Seat()
        seat.handle(.connected, at: 10)
        guard case .hello(let hello) = seat.sent.first else {
            Issue.record("no Hello")
            return
        }
        #expect(hello.version == 1)
        #expect(hello.controller == "Desk")
        seat.hear(at: 10.5) { $0.welcome = WireWelcome(lamp, now: at(3)) }
        let clock = ClockMapping(boot: boot, plugTime: at(3), asked: at(10), answered: at(10.5))
        #expect(
            seat.updates == [
                .welcomed(
                    PlugDescription(
                        id: lamp.id, name: "Lamp", capabilities: lamp.capabilities, firmware: "1.0", boot: boot,
                        clock: clock))
            ])
        #expect(clock.instant(ofPlugTime: at(3)) == at(10.25))
    }

    @Test("Events are delivered in order, with their age")
    func eventsAreDeliveredInOrderWithTheirAge() {
        var seat = Seat.welcomed(at: 100, SubscriptionOptions(events: .after(4)))
        seat.subscribed(next: 7)
        seat.event(5, time: 1, sentAt: 3, at: 103)
        // The event was in transit for 27 s, so its age is 27 s, although it was zero when the plug sent the event.
        seat.event(6, time: 3, sentAt: 3, at: 130)
        let ages = seat.updates.compactMap { update -> Duration? in
            guard case .event(_, let age) = update else { return nil }
            return age
        }
        #expect(seat.sequences == [5, 6])
        // The age is reduced by the possible drift in the 30 s since the clocks were compared.
        #expect(ages == [.seconds(2), .seconds(27) - .milliseconds(6)])
    }

    @Test("A missing or repeated event ends the session")
    func aHoleOrARepetitionEndsTheSession() {
        for (sequence, detail) in [
            (6, "The plug sent event 6; 5 was expected."), (4, "The plug sent event 4; 5 was expected."),
        ] {
            var seat = Seat.welcomed(SubscriptionOptions(events: .after(4)))
            seat.subscribed(next: 7)
            seat.event(SequenceNumber(sequence))
            #expect(seat.sequences.isEmpty)
            #expect(seat.endDetail == detail)
            #expect(seat.sent.contains { if case .goodbye = $0 { true } else { false } })
        }
    }

    @Test("Events continue after a gap")
    func eventsGoOnAfterAGap() {
        var seat = Seat.welcomed(SubscriptionOptions(events: .after(4)))
        let gap = Gap(from: 5, to: 99, reason: .powerLost)
        seat.subscribed(next: 101, gap: gap)
        seat.event(100)
        #expect(seat.updates.first == .subscribed(next: 101, gap: gap))
        #expect(seat.sequences == [100])
        // The plug's ring has overwritten unsent events.
        seat.subscribed(next: 200, gap: Gap(from: 101, to: 180, reason: .overwritten))
        seat.event(181)
        #expect(seat.sequences == [100, 181])
    }

    @Test("A gap that does not start directly after the cursor ends the session")
    func aGapThatDoesNotMeetTheCursorEndsTheSession() {
        var seat = Seat.welcomed(SubscriptionOptions(events: .after(4)))
        seat.subscribed(next: 101, gap: Gap(from: 7, to: 99, reason: .powerLost))
        #expect(seat.endDetail == "The plug sent a gap from 7; event 5 was requested.")
    }

    @Test("After the gap for an unknown cursor, the events of a reset plug start at 1")
    func aPlugThatWasResetBeginsAnew() {
        var seat = Seat.welcomed(SubscriptionOptions(events: .after(900)))
        seat.subscribed(next: 1, gap: Gap(from: 1, to: 0, reason: .unknownCursor))
        seat.event(1)
        #expect(seat.sequences == [1])
    }

    @Test("An event of an unknown kind advances the cursor")
    func anEventOfALaterVersionMovesTheCursor() {
        var seat = Seat.welcomed(SubscriptionOptions(events: .after(0)))
        seat.subscribed(next: 3)
        seat.hear { $0.event.sequence = 1 }
        seat.event(2)
        #expect(seat.updates.contains(.unknownEvent(1)))
        #expect(seat.sequences == [2])
    }

    @Test("After an earlier subscription is answered, only the newest waiting subscription is sent")
    func theNewestWishWinsWhileAnEarlierIsOnItsWay() {
        var seat = Seat.welcomed(SubscriptionOptions(events: .after(3)))
        seat.handle(.subscribe(SubscriptionOptions(events: .none)))
        seat.handle(.subscribe(SubscriptionOptions(events: .after(3), state: nil)))
        #expect(seat.sent.isEmpty)
        seat.subscribed(next: 9)
        // The event lane is open, so the new Subscribe has no cursor, and the lane continues from its position.
        guard case .subscribe(let wire) = seat.sent.first else {
            Issue.record("no second Subscribe was sent")
            return
        }
        #expect(!wire.hasAfter && !wire.noEvents && wire.noState)
        seat.event(4)
        seat.subscribed(next: 9)
        seat.event(5)
        #expect(seat.sequences == [4, 5])
    }

    @Test("A command has its deadline on the plug's clock, with the possible error of the clock added")
    func commandsExpireOnThePlugsClock() throws {
        var seat = Seat()
        seat.handle(.connected, at: 100)
        seat.hear(at: 102) { $0.welcome = WireWelcome(lamp, now: at(7)) }
        seat.sent = []
        seat.handle(.command(request(1), .identify, deadline: at(107)), at: 102)
        guard case .command(let wire) = try #require(seat.sent.first) else { return #expect(Bool(false)) }
        // The plug's clock showed 7 s between 100 s and 102 s.
        #expect(wire.until == 14_000_000_000)
    }

    @Test("A command ends with its result or at its deadline; a late result is delivered too")
    func commandsEndWithTheirResultOrTheirDeadline() {
        var seat = Seat.welcomed()
        seat.handle(.command(request(1), .identify, deadline: at(2)))
        seat.handle(.command(request(2), .identify, deadline: at(3)))
        let outcome = CommandOutcome.done(PlugState(relayOn: true), event: 4)
        seat.hear(at: 1) { $0.result = WireCommandResult(outcome, request: request(1)) }
        #expect(seat.session.nextDeadline == at(3))
        seat.handle(.deadlineReached, at: 3)
        #expect(seat.updates == [.commandFinished(request(1), outcome), .commandUnanswered(request(2))])
        // A late answer is delivered nevertheless.
        seat.hear(at: 4) { $0.result = WireCommandResult(outcome, request: request(2)) }
        #expect(seat.updates.last == .commandFinished(request(2), outcome))
    }

    @Test("The seventeenth command in flight is refused and not sent")
    func theSeventeenthCommandIsNotSent() {
        var seat = Seat.welcomed()
        for number in 1...17 as ClosedRange<UInt8> {
            seat.handle(.command(request(number), .identify, deadline: at(2)))
        }
        #expect(seat.sent.count == 16)
        guard case .commandFinished(request(17), .refused(let refusal)) = seat.updates.last else {
            Issue.record("the seventeenth command was not refused")
            return
        }
        #expect(refusal.code == .busy)
    }

    @Test("Requested samples are delivered, and unrequested ones end the session")
    func samplesComeToWhoAskedAndToNobodyElse() {
        var seat = Seat.welcomed()
        seat.handle(.fetchSamples(3, from: at(1), to: at(2)))
        seat.hear {
            $0.samples.fetchID = 3
            $0.samples.chunk = .init([1, 2])
            $0.samples.last = true
        }
        #expect(seat.updates == [.samples(fetch: 3, chunk: [1, 2], last: true)])
        seat.hear { $0.samples.fetchID = 3 }
        #expect(seat.endDetail == "The plug sent samples that were not requested.")
    }

    @Test("A silent plug gets a Ping after 20 seconds and is disconnected after 45")
    func aSilentPlugIsAskedAfter20SecondsAndLeftAfter45() {
        var seat = Seat.welcomed(at: 100)
        #expect(seat.session.nextDeadline == at(120))
        seat.handle(.deadlineReached, at: 120)
        seat.handle(.deadlineReached, at: 140)
        #expect(seat.sent == [.ping(.with(token: 1)), .ping(.with(token: 2))])
        seat.handle(.deadlineReached, at: 145)
        guard case .ended(.ended(let goodbye)) = seat.updates.last else {
            Issue.record("the session did not end")
            return
        }
        #expect(goodbye.reason == .silent)
        #expect(seat.session.nextDeadline == nil)
        seat.handle(.received([1, 2, 3]), at: 146)
        seat.handle(.closed, at: 147)
        #expect(seat.updates.count == 1)
    }

    @Test("The plug's Goodbye ends the session with its reason")
    func thePlugsGoodbyeEndsTheSessionWithItsReason() {
        var seat = Seat.welcomed()
        seat.hear { $0.goodbye = WireGoodbye(Goodbye(.stopping, "Restarting.")) }
        #expect(seat.updates == [.ended(.endedByPeer(Goodbye(.stopping, "Restarting.")))])
        #expect(seat.closed == .endedByPeer(Goodbye(.stopping, "Restarting.")))
    }

    /// Attack class: unchecked numbers of a peer. Each of these crashed the daemon once by an arithmetic overflow.
    @Test("Numbers beyond the protocol's limits end the session")
    func numbersThatNoPlugSaysEndTheSession() {
        var zero = Seat.welcomed(SubscriptionOptions(events: .fromNow, state: nil))
        zero.hear { $0.subscribed.nextSequence = 0 }
        var old = Seat.welcomed(SubscriptionOptions(events: .fromNow, state: nil))
        old.subscribed(next: 1)
        let event = PlugEvent(sequence: 1, boot: boot, time: at(1), kind: .buttonPressed(.single))
        var wire = WireEvent(event, session: boot, now: at(1))
        wire.ageMs = UInt64(Int64.max)
        old.hear { $0.event = wire }
        var full = Seat.welcomed(SubscriptionOptions(events: .none, state: StateOptions()))
        full.hear { $0.state.state.reading.activeEnergyMwh = .max }
        for (seat, field) in [(zero, "next_sequence"), (old, "age_ms"), (full, "active_energy_mwh")] {
            guard case .ended(let goodbye) = seat.closed else {
                Issue.record("\(field): \(seat.updates)")
                continue
            }
            #expect(goodbye.reason == .malformed && goodbye.detail.contains(field), "\(goodbye)")
        }
    }
}
