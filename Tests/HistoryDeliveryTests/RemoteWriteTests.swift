import Metering
import PlugModel
import PowerHistory
import SwiftProtobuf
import TestSupport
import Testing

@testable import HistoryDelivery

@Suite struct RemoteWriteTests {
    private static let lamp = PlugID(rawValue: "00000000a001")!
    private let directory = TestFolder(on: .memory)

    private func batch(_ count: Int) -> HistoryBatch {
        var encoder = SampleChunkEncoder()
        for second in 0..<count {
            _ = encoder.append(Sample(milliseconds: Int64(second) * 1000, deciwatts: 600, decivolts: 2301))
        }
        let boot = BootID(bytes: Array(repeating: 1, count: 16))!
        var batch = HistoryBatch()
        batch.names = [Self.lamp: "Lamp"]
        batch.chunks =
            encoder.seal().map { [StoredChunk(plug: Self.lamp, boot: boot, origin: 1_000_000, chunk: $0)] } ?? []
        batch.counters = [
            CounterReading(plug: Self.lamp, boot: boot, origin: 1_000_000, milliseconds: 5000, milliwattHours: 10)
        ]
        return batch
    }

    @Test("Only new samples are sent, and the stored state survives a restart")
    func onlyWhatIsNewIsSentAndTheFileRemembersIt() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.beginFeed(Array(repeating: 3, count: 16))
        try history.record(batch(10))
        var memory = RemoteWriteMemory()
        let first = try history.changes(after: 0, atMost: 100, sampleLimit: 1000, samples: true)
        let sent = memory.values(of: first)
        #expect(sent.samples[Self.lamp]?.count == 10 && sent.counters[Self.lamp]?.count == 1)
        memory.position = FeedPosition(epoch: Array(repeating: 3, count: 16), number: first.through)
        var other = RemoteWriteMemory(memory.bytes)
        #expect(other.position == memory.position && other.bytes == memory.bytes)
        try history.record(batch(15))
        let second = try history.changes(after: first.through, atMost: 100, sampleLimit: 1000, samples: true)
        #expect(other.values(of: second).samples[Self.lamp]?.map(\.at) == (10..<15).map { 1_000_000 + $0 * 1000 })
        #expect(RemoteWriteMemory(Array("nonsense\n".utf8)).position == nil)
        #expect(RemoteWriteMemory(Array(memory.bytes.dropLast(20))).position == memory.position)
    }

    @Test("Each request has sorted labels and at most the given number of samples")
    func seriesAreSortedLimitedAndLabelled() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.beginFeed(Array(repeating: 3, count: 16))
        try history.record(batch(10))
        var memory = RemoteWriteMemory()
        let values = memory.values(of: try history.changes(after: 0, atMost: 100, sampleLimit: 1000, samples: true))
        let series = RemoteWriteSeries(house: "home", labels: [("city", "Bonn")])
        let requests = try series.requests(values, names: [Self.lamp: "Lamp"], atMost: 6).map { bytes in
            try Prometheus_WriteRequest(serializedBytes: bytes)
        }
        #expect(requests.allSatisfy { $0.timeseries.reduce(0) { $0 + $1.samples.count } <= 6 })
        let all = requests.flatMap(\.timeseries)
        #expect(all.reduce(0) { $0 + $1.samples.count } == 21)
        for one in all {
            let names = one.labels.map(\.name)
            #expect(names == names.sorted() && one.labels.contains { $0.name == "plug" && $0.value == "Lamp" })
        }
        let energy = all.first { $0.labels.contains { $0.value == "smartplug_active_energy_joules_total" } }
        #expect(energy?.samples.map(\.value) == [36] && energy?.samples.map(\.timestamp) == [1_005_000])
    }
}
