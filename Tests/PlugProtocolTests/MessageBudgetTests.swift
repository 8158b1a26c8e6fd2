import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

@Suite struct MessageBudgetTests {
    /// A plug with an owner at the first connection and a viewer at the second one.
    private func bench(events: Int = 0) -> Bench {
        let controllers = [
            PairedControllers.Controller(key: deskKey, name: "Desk"),
            PairedControllers.Controller(key: otherKey, name: "Viewer", role: .viewer),
        ]
        let access = PlugServer.Access(key: plugKey, code: setupCode, controllers: PairedControllers(controllers))
        var bench = Bench(access: access)
        for _ in 0..<events { bench.handle(.record(.buttonPressed(.single))) }
        bench.greet(first)
        bench.greet(second, key: otherKey)
        return bench
    }

    private func pings(_ count: Int) -> [UInt8] {
        Array((0..<count).map { number in controllerFrame { $0.ping.token = UInt64(number) } }.joined())
    }

    private func pongs(_ bench: inout Bench, on connection: ConnectionID) -> Int {
        bench.take(connection).count { if case .pong = $0 { true } else { false } }
    }

    private let atOnce = PeerBudgets.messagesAtOnce - PeerBudgets.messagesOfHello

    @Test("Messages of a viewer beyond its budget wait, and are handled at the rate of the budget")
    func viewerWaits() {
        var bench = bench()
        bench.handle(.received(second, pings(1000)))
        #expect(pongs(&bench, on: second) == atOnce)
        #expect(bench.server.isReadingPaused(second))
        _ = bench.run(until: 2)
        #expect(pongs(&bench, on: second) == 2 * PeerBudgets.messagesPerSecond)
        _ = bench.run(until: 30)
        #expect(pongs(&bench, on: second) == 1000 - atOnce - 2 * PeerBudgets.messagesPerSecond)
        #expect(!bench.server.isReadingPaused(second))
    }

    @Test("Messages of an owner never wait")
    func ownerDoesNotWait() {
        var bench = bench()
        bench.handle(.received(first, pings(1000)))
        #expect(pongs(&bench, on: first) == 1000 && !bench.server.isReadingPaused(first))
    }

    @Test("A viewer that reconnects or opens a second session gets no new budget")
    func sessionsShareABudget() {
        var bench = bench()
        bench.handle(.received(second, pings(1000)))
        _ = bench.take(second)
        bench.handle(.closed(second))
        let third = ConnectionID(rawValue: 3)
        bench.greet(third, key: otherKey)
        #expect(bench.server.isReadingPaused(third), "its Hello waits")
        #expect(bench.server.connections.map(\.controller) == ["Desk", nil])
        _ = bench.run(until: 1)
        #expect(bench.server.connections.map(\.controller) == ["Desk", "Viewer (Desk)"])
    }

    @Test("Waiting messages of two sessions of a viewer are handled alternately")
    func sessionsTakeTurns() {
        var bench = bench()
        let third = ConnectionID(rawValue: 3)
        bench.greet(third, key: otherKey)
        bench.handle(.received(second, pings(1000)))
        _ = bench.take(second)
        bench.handle(.received(third, pings(1000)), at: 0.01)
        _ = bench.run(until: 2)
        let answers = [pongs(&bench, on: second), pongs(&bench, on: third)]
        #expect(abs(answers[0] - answers[1]) <= 1 && answers[0] + answers[1] == 2 * PeerBudgets.messagesPerSecond)
    }

    @Test("A viewer that asks for all past events in a loop gets them at a limited rate")
    func pastEventsCount() {
        var bench = bench(events: 3200)
        var events = 0
        for second in 0..<60 {
            bench.say(on: ConnectionID(rawValue: 2), at: Double(second)) { $0.subscribe.after = 1 }
            _ = bench.run(until: Double(second) + 0.9)
            events += bench.take(ConnectionID(rawValue: 2)).count { $0.sequence != nil }
        }
        #expect(events >= 3200)
        #expect(events <= (60 * PeerBudgets.messagesPerSecond + PeerBudgets.messagesAtOnce + 200) * 16)
    }

    @Test("A viewer whose waiting messages have more bytes than the limit is disconnected")
    func unreadBytesHaveALimit() {
        var bench = bench()
        for _ in 0..<20 { bench.handle(.received(second, pings(2000))) }
        #expect(bench.take(second).compactMap(\.goodbyeReason) == [.limit])
        #expect(bench.server.connections.map(\.id) == [first])
    }
}
