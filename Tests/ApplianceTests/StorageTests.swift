import Appliance
import PlugProtocol
import ProtocolCore
import Testing

@Suite struct StorageTests {
    @Test func aChangeIsWrittenAfterItHasRested() {
        var bench = Bench()
        bench.run(for: .seconds(100))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(3))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(100))
        #expect(bench.persisted == [Timed(105_000, StoredState(relayOn: true))])
    }

    @Test func whatWasTakenBackIsNotWritten() {
        var bench = Bench()
        bench.run(for: .seconds(100))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.run(for: .seconds(100))
        #expect(bench.persisted.isEmpty)
    }

    @Test func howeverOftenItSwitchesWritesKeepTheirDistance() {
        var bench = Bench()
        for _ in 0..<3600 {
            bench.command(.setRelay(on: !bench.machine.state.relayOn, autoOff: nil))
            bench.run(for: .seconds(1))
        }
        #expect(bench.persisted.count <= 120)
        #expect(zip(bench.persisted, bench.persisted.dropFirst()).allSatisfy { $1.at - $0.at >= 30_000 })
    }

    @Test func energyIsWrittenFourTimesADay() {
        var bench = Bench(StoredState(relayOn: true), powerLost: false)
        bench.load = 36_000
        bench.run(for: .seconds(86_400))
        #expect(bench.persisted.map(\.at) == [1, 2, 3, 4].map { $0 * 21_600_000 })
        #expect(bench.persisted.last?.value.milliwattHours == 86_398_500)
    }

    @Test func nothingToWriteIsNotWritten() {
        var bench = Bench()
        bench.run(for: .seconds(86_400))
        #expect(bench.persisted.isEmpty)
        bench.feed(.stopping)
        #expect(bench.persisted.isEmpty)
    }

    @Test func anOrderlyStopWritesAtOnce() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.feed(.stopping)
        #expect(bench.persisted == [Timed(0, StoredState(relayOn: true))])
    }

    @Test func theLevelThatIsStoredIsWhereTheDimmerComesToRest() {
        var bench = Bench { $0.capabilities.insert(.dimmer) }
        bench.run(for: .seconds(100))
        bench.command(.setLevel(DimLevel(percent: 40), transition: .seconds(60)))
        bench.run(for: .seconds(200))
        #expect(bench.persisted.map(\.value.level) == [DimLevel(percent: 40)])
        let again = Bench(bench.machine.storedState) { $0.capabilities.insert(.dimmer) }
        #expect(again.dimmer == [Timed(0, 400)])
        #expect(again.machine.state.level == DimLevel(percent: 40))
    }
}
