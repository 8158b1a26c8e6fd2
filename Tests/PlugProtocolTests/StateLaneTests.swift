import ProtocolCore
import Testing

import PlugModel

@testable import PlugProtocol

@Suite struct StateLaneTests {
    private func opened(deadBand: UInt32, intervalMs: UInt32 = 0, state: PlugState) -> Bench {
        var bench = Bench(state: state)
        bench.greet()
        bench.say {
            $0.subscribe.noEvents = true
            $0.subscribe.deadBandMw = deadBand
            $0.subscribe.maxIntervalMs = intervalMs
        }
        return bench
    }

    private func states(_ bench: inout Bench) throws -> [PlugState] {
        try bench.take().compactMap { kind in
            guard case .state(let update) = kind else { return nil }
            return try update.state.model()
        }
    }

    @Test("A snapshot opens the state lane")
    func aSnapshotOpensTheLane() throws {
        var bench = opened(deadBand: 0, state: watts(40, at: 0))
        guard case .snapshot(let snapshot) = bench.take().last else {
            Issue.record("no Snapshot was sent")
            return
        }
        #expect(try snapshot.state.model() == watts(40, at: 0))
    }

    @Test("Without a dead band every reading is sent")
    func withoutADeadBandEveryReadingIsSent() throws {
        var bench = opened(deadBand: 0, state: watts(40, at: 0))
        bench.handle(.stateChanged(watts(40, at: 0.1)), at: 0.1)
        #expect(try states(&bench) == [watts(40, at: 0.1)])
    }

    @Test("The dead band holds readings back until the interval ends")
    func theDeadBandHoldsReadingsBackUntilTheInterval() throws {
        var bench = opened(deadBand: 1000, intervalMs: 500, state: watts(40, at: 0))
        bench.handle(.stateChanged(watts(40.9, at: 0.1)), at: 0.1)
        bench.handle(.stateChanged(watts(40.8, at: 0.2)), at: 0.2)
        #expect(try states(&bench) == [])
        #expect(bench.server.nextDeadline == at(0.5))
        _ = bench.run(until: 0.5)
        // The newest reading is sent, and those in between are not.
        #expect(try states(&bench) == [watts(40.8, at: 0.2)])
        bench.handle(.stateChanged(watts(39.8, at: 0.6)), at: 0.6)
        #expect(try states(&bench) == [watts(39.8, at: 0.6)])
        #expect(bench.server.nextDeadline == at(20.6))
    }

    @Test("A change of the sleepers is sent when the interval ends")
    func sleepersWaitForTheInterval() throws {
        var bench = opened(deadBand: 1000, intervalMs: 500, state: watts(40, at: 0))
        var state = watts(40, at: 0)
        state.sleepers = [PlugSleeper(host: "nas.local", card: "02:00:00:00:00:10", asleepSince: at(1))]
        bench.handle(.stateChanged(state), at: 0.1)
        #expect(try states(&bench) == [])
        _ = bench.run(until: 0.5)
        #expect(try states(&bench) == [state])
    }

    @Test("A change of the relay or the level, and the loss of the reading, are sent at once")
    func relayLevelAndTheMetersFailureAreSentAtOnce() throws {
        var bench = opened(deadBand: 1_000_000, state: watts(40, at: 0))
        var state = watts(40, at: 0.1)
        state.relayOn = false
        bench.handle(.stateChanged(state), at: 0.1)
        #expect(try states(&bench) == [state])
        state.level = .full
        bench.handle(.stateChanged(state), at: 0.2)
        #expect(try states(&bench) == [state])
        state.reading = nil
        bench.handle(.stateChanged(state), at: 0.3)
        #expect(try states(&bench) == [state])
        bench.handle(.stateChanged(state), at: 0.4)
        #expect(try states(&bench) == [])
    }

    @Test("A stalled subscriber gets only the newest state")
    func aStalledSubscriberGetsTheNewestStateOnly() throws {
        var bench = opened(deadBand: 0, state: watts(40, at: 0))
        bench.handle(.writable(first, false))
        for second in 1...9 {
            bench.handle(.stateChanged(watts(Double(second), at: Double(second))), at: Double(second))
        }
        #expect(try states(&bench) == [])
        bench.handle(.writable(first, true), at: 10)
        #expect(try states(&bench) == [watts(9, at: 9)])
    }
}
