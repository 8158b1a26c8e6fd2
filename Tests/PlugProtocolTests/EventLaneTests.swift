import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct EventLaneTests {
    private func subscribe(_ bench: inout Bench, after: UInt64?, on connection: ConnectionID = first) {
        bench.say(on: connection) {
            $0.subscribe.noState = true
            if let after { $0.subscribe.after = after }
        }
    }

    private func press(_ bench: inout Bench, at seconds: Double = 0) {
        bench.handle(.record(.buttonPressed(.single)), at: seconds)
    }

    @Test("Events are sent in order to every subscriber")
    func eventsComeInOrderToEveryoneWhoSubscribed() {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        press(&bench)
        subscribe(&bench, after: nil, on: first)
        subscribe(&bench, after: 0, on: second)
        _ = bench.take(first)
        #expect(bench.take(second).compactMap(\.sequence) == [1])
        press(&bench)
        press(&bench)
        #expect(bench.take(first).compactMap(\.sequence) == [2, 3])
        #expect(bench.take(second).compactMap(\.sequence) == [2, 3])
    }

    @Test("A gap is sent before the events that follow it")
    func aGapIsSaidBeforeWhatFollowsIt() {
        var bench = Bench(journal: EventJournal(nextSequence: 500))
        press(&bench)
        bench.greet()
        subscribe(&bench, after: 7)
        let answer = bench.take()
        #expect(answer.first == .subscribed(WireSubscribed(next: 501, gap: Gap(from: 8, to: 499, reason: .powerLost))))
        #expect(answer.compactMap(\.sequence) == [500])
    }

    @Test("A slow subscriber has only a cursor and no queue")
    func aSlowSubscriberIsACursorAndQueuesNothing() {
        var bench = Bench(journal: EventJournal(limits: EventJournal.Limits(events: 10)))
        bench.greet()
        subscribe(&bench, after: 0)
        bench.handle(.writable(first, false))
        _ = bench.take()
        for _ in 0..<8 { press(&bench) }
        #expect(bench.take().isEmpty)
        bench.handle(.writable(first, true))
        #expect(bench.take().compactMap(\.sequence) == Array(1...8))
    }

    @Test("A subscriber whose events were overwritten gets the gap")
    func aSubscriberOvertakenByTheRingIsToldTheGap() {
        var bench = Bench(journal: EventJournal(limits: EventJournal.Limits(events: 4)))
        bench.greet()
        subscribe(&bench, after: 0)
        bench.handle(.writable(first, false))
        _ = bench.take()
        for _ in 0..<9 { press(&bench) }
        bench.handle(.writable(first, true))
        let messages = bench.take()
        #expect(messages.first == .subscribed(WireSubscribed(next: 10, gap: Gap(from: 1, to: 5, reason: .overwritten))))
        #expect(messages.compactMap(\.sequence) == [6, 7, 8, 9])
    }

    @Test("Past events are sent in bursts, and the next burst is due at once")
    func catchingUpGoesInBurstsThatAskToGoOnAtOnce() {
        var bench = Bench()
        for _ in 0..<4000 { press(&bench, at: 1) }
        bench.greet(at: 1)
        bench.say(at: 1) { $0.subscribe.after = 0 }
        let firstBurst = bench.take().compactMap(\.sequence).count
        #expect((1000..<4000).contains(firstBurst))
        #expect(bench.server.nextDeadline == at(1))
        _ = bench.run(until: 1)
        #expect(bench.take().compactMap(\.sequence) == Array(UInt64(firstBurst + 1)...4000))
        #expect(bench.server.nextDeadline == at(21))
    }

    @Test("Subscribing again without a cursor continues after the last event that was sent")
    func subscribingAnewWithoutACursorGoesOnFromWhereItIs() {
        var bench = Bench()
        bench.greet()
        subscribe(&bench, after: 0)
        bench.handle(.writable(first, false))
        press(&bench)
        subscribe(&bench, after: nil)
        bench.handle(.writable(first, true))
        #expect(bench.take().compactMap(\.sequence) == [1])
    }

    @Test("A subscription without events ends the event lane")
    func theLaneCanBeClosed() {
        var bench = Bench()
        bench.greet()
        subscribe(&bench, after: 0)
        bench.say { $0.subscribe.noEvents = true }
        press(&bench)
        #expect(bench.take().compactMap(\.sequence).isEmpty)
    }

    @Test("Acknowledgements are stored, and those beyond the journal are ignored")
    func acknowledgementsAreKeptAndThoseAheadOfTheJournalSayNothing() {
        var bench = Bench()
        bench.greet()
        press(&bench)
        subscribe(&bench, after: 0)
        bench.say { $0.acknowledge.sequence = 1 }
        bench.say { $0.acknowledge.sequence = 900 }
        #expect(
            bench.server.connections == [
                PlugServer.Connection(id: first, peer: "test", controller: "Desk", cursor: 1, acknowledged: 1)
            ])
    }

    @Test("A peer that sends requests but never reads is disconnected")
    func aPeerThatAsksAndNeverReadsIsSentAway() {
        var limits = PlugServer.Limits()
        limits.unsentBytes = 150
        var bench = Bench(limits: limits)
        bench.greet()
        bench.handle(.writable(first, false))
        var closed: [PlugServer.Action] = []
        for token in 1...30 where closed.isEmpty { closed = bench.say { $0.ping.token = UInt64(token) } }
        guard case .shell(.close(first, .ended(let goodbye))) = closed.first else {
            Issue.record("the peer was not disconnected")
            return
        }
        #expect(goodbye.reason == .limit)
        // A Pong has ten bytes, so the sixteenth exceeds the limit of 150 bytes. The Goodbye follows it.
        #expect(bench.take().count == 17)
    }

    @Test("Skipped numbers are reported to a live subscriber at once")
    func aLeapIsToldUnaskedToWhoListensLive() {
        var bench = Bench(journal: EventJournal(nextSequence: 5))
        bench.greet()
        bench.say { $0.subscribe = WireSubscribe(SubscriptionOptions(events: .fromNow, state: nil)) }
        bench.handle(.record(.buttonPressed(.single)))
        _ = bench.take()
        bench.handle(.leap(to: 1_000_000))
        bench.handle(.record(.buttonPressed(.double)))
        let told = bench.take()
        #expect(told.count == 2)
        let gap = Gap(from: 6, to: 999_999, reason: .storageFailed)
        guard case .subscribed(let wire) = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(wire == WireSubscribed(next: 1_000_000, gap: gap))
        #expect(told.last?.sequence == 1_000_000)
    }
}
