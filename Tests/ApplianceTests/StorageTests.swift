import Appliance
import PlugModel
import ProtocolCore
import Testing

@Suite struct StorageTests {
    @Test("A change is written after five seconds without a further change") func aChangeIsWrittenAfterItHasRested() {
        var bench = Bench()
        bench.run(for: .seconds(100))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(3))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(100))
        #expect(bench.persisted == [Timed(105_000, StoredState(relayOn: true))])
    }

    @Test("A change that is reverted is not written") func whatWasTakenBackIsNotWritten() {
        var bench = Bench()
        bench.run(for: .seconds(100))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.run(for: .seconds(100))
        #expect(bench.persisted.isEmpty)
    }

    @Test("Writes are at least 75 s apart, even if the relay switches every second")
    func howeverOftenItSwitchesWritesKeepTheirDistance() {
        var bench = Bench()
        for _ in 0..<3600 {
            bench.command(.setRelay(on: !bench.machine.state.relayOn, autoOff: nil))
            bench.run(for: .seconds(1))
        }
        #expect(bench.persisted.count <= 48)
        #expect(zip(bench.persisted, bench.persisted.dropFirst()).allSatisfy { $1.at - $0.at >= 75_000 })
    }

    @Test(
        "A loss of power loses at most 0.1 kWh of counted energy, and at most the energy of the last hour",
        arguments: [5, 600, 3000, 36_800] as [Int32])
    func aLossOfPowerCostsATenthOfAKilowattHourOrAnHour(load: Int32) {
        var bench = Bench(StoredState(relayOn: true), powerLost: false)
        bench.load = load
        var worst: (energy: UInt64, time: Int64) = (0, 0)
        var writes: [Int64] = []
        var stored = Timed(0, StoredState(relayOn: true))
        for _ in 0..<86_400 {
            bench.run(for: .seconds(1))
            if let newest = bench.persisted.last {
                stored = newest
                writes.append(newest.at)
            }
            bench.forget()
            let known = bench.machine.storedState.milliwattHours
            if known > stored.value.milliwattHours {
                worst.time = max(worst.time, bench.now.nanoseconds / 1_000_000 - stored.at)
            }
            worst.energy = max(worst.energy, known - stored.value.milliwattHours)
        }
        // The plug knows the energy of one more measurement before it writes.
        #expect(worst.energy <= 100_000 + UInt64(load) / 36 + 1)
        #expect(worst.time <= 3_600_000)
        #expect(zip(writes, writes.dropFirst()).allSatisfy { $1 - $0 >= 75_000 })
        // At full load the state is written every 98 s, at 300 W every 20 min, at 60 W or less every hour.
        #expect(writes.count == [5: 24, 600: 24, 3000: 71, 36_800: 881][load])
    }

    @Test("An unchanged state is not written") func nothingToWriteIsNotWritten() {
        var bench = Bench()
        bench.run(for: .seconds(86_400))
        #expect(bench.persisted.isEmpty)
        bench.feed(.stopping)
        #expect(bench.persisted.isEmpty)
    }

    @Test("An orderly stop writes at once") func anOrderlyStopWritesAtOnce() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.feed(.stopping)
        #expect(bench.persisted == [Timed(0, StoredState(relayOn: true))])
    }

    @Test("During a transition, the plug stores only the target level")
    func theLevelThatIsStoredIsWhereTheDimmerComesToRest() {
        var bench = Bench { $0.capabilities.insert(.dimmer) }
        bench.run(for: .seconds(100))
        bench.command(.setLevel(DimLevel(percent: 40), transition: .seconds(60)))
        bench.run(for: .seconds(200))
        #expect(bench.persisted.map(\.value.level) == [DimLevel(percent: 40)])
        let again = Bench(bench.machine.storedState, powerLost: false) { $0.capabilities.insert(.dimmer) }
        #expect(again.dimmer == [Timed(0, 400)])
        #expect(again.machine.state.level == DimLevel(percent: 40))
    }
}
