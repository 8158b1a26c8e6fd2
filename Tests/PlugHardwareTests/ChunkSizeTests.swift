import Metering
import PlugHardware
import ProtocolCore
import Testing

@Suite struct ChunkSizeTests {
    /// Encodes three hours of each model with time, power, voltage and current, measured at most 0.4 ms after every
    /// full second.
    @Test("A sample takes at most 2.4 bytes on average, and a week of samples fits into the store")
    func noisyModelsFitIntoTheStoredWeek() throws {
        var bytes = 0
        var count = 0
        for appliance in SimulatedAppliance.allCases {
            let plug = TestPlug(.appliance(appliance, appliance.modes.contains(.on) ? .on : appliance.modes[0]))
            var random = SeededRandom(seed: 21)
            var encoder = SampleChunkEncoder()
            for second in 0..<10_800 as Range<Int64> {
                plug.now =
                    Instant(nanoseconds: second * 1_000_000_000) + random.duration(in: .zero ... .microseconds(400))
                if let chunk = encoder.append(Sample(try plug.plug.measure(), at: plug.now)) {
                    bytes += chunk.bytes.count
                }
            }
            bytes += encoder.seal()?.bytes.count ?? 0
            count += 10_800
        }
        let perSample = Double(bytes) / Double(count)
        #expect(perSample <= 2.4)
        #expect(perSample * 7 * 86_400 < Double(SampleStore.defaultByteLimit))
    }

    /// While it is on, the television is the noisiest model.
    @Test("A week of the noisiest model is kept completely") func aWeekOfTheNoisiestModelIsKeptWhole() throws {
        let plug = TestPlug(.appliance(.television, .on))
        var random = SeededRandom(seed: 22)
        var store = SampleStore()
        let week = 7 * 86_400 as Int64
        for second in 0..<week {
            plug.now =
                Instant(nanoseconds: second * 1_000_000_000) + random.duration(in: .zero ... .microseconds(400))
            store.append(Sample(try plug.plug.measure(), at: plug.now))
        }
        #expect(store.count == Int(week))
        #expect(store.byteCount <= 1_500_000)
        let first = try #require(store.chunks(from: .zero, through: .zero).first).samples()[0]
        #expect(first.milliseconds == 0 && first.decivolts != nil && first.milliamperes != nil)
    }
}
