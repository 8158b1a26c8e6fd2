import GRDB
import Metering
import PlugModel
@testable import PowerHistory
import ProtocolCore
import Synchronization
import Testing

/// The warnings of a history.
final class Complaints: Sendable {
    private let said = Mutex<[String]>([])

    var all: [String] { said.withLock { $0 } }

    func take(_ text: String) { said.withLock { $0.append(text) } }
}

/// The plug of most tests.
let lamp = PlugID(rawValue: "00000000a001")!
let fridge = PlugID(rawValue: "00000000a002")!
let firstBoot = BootID(bytes: Array(repeating: 1, count: 16))!
let secondBoot = BootID(bytes: Array(repeating: 2, count: 16))!
/// The wall clock at zero of the plug's clock, in milliseconds since 1970: 2024-03-04, 00:00 UTC.
let midnight: Int64 = 1_709_510_400_000

/// Returns chunks with one sample per second, starting at second `first` of the plug's clock.
func chunks(
    of plug: PlugID = lamp, boot: BootID = firstBoot, origin: Int64 = midnight, from first: Int, count: Int,
    deciwatts: (_ second: Int) -> Int
) -> [StoredChunk] {
    var encoder = SampleChunkEncoder()
    var sealed: [SampleChunk] = []
    for second in first..<first + count {
        let sample = Sample(milliseconds: Int64(second) * 1000, deciwatts: Int32(deciwatts(second)))
        if let chunk = encoder.append(sample) { sealed.append(chunk) }
    }
    if let last = encoder.seal() { sealed.append(last) }
    return sealed.map { StoredChunk(plug: plug, boot: boot, origin: origin, chunk: $0) }
}

func batch(_ chunks: [StoredChunk], counters: [CounterReading] = []) -> HistoryBatch {
    var batch = HistoryBatch()
    batch.chunks = chunks
    batch.counters = counters
    return batch
}

func reading(
    of plug: PlugID = lamp, boot: BootID = firstBoot, origin: Int64 = midnight, second: Int, _ milliwattHours: UInt64
) -> CounterReading {
    CounterReading(
        plug: plug, boot: boot, origin: origin, milliseconds: Int64(second) * 1000, milliwattHours: milliwattHours)
}

extension PowerHistory {
    func times(of plug: PlugID = lamp, from: Int64 = 0, to: Int64 = .max) throws -> [Int64] {
        var times: [Int64] = []
        try samples(of: plug, from: from, to: to) { time, _ in times.append(time) }
        return times
    }

    /// The stored chunks, roll-ups, counter readings, boots, fetched spans and plugs, without row numbers, which depend
    /// on the order of arrival.
    func content() throws -> [String] {
        let tables = [
            "SELECT plug.plug, boot.boot, first, count, since, until, crc, bytes FROM chunk JOIN plug ON plug.id = chunk.plug "
                + "JOIN boot ON boot.id = chunk.boot ORDER BY 1, 2, 3",
            "SELECT plug.plug, step, block, bytes FROM rollup JOIN plug ON plug.id = rollup.plug ORDER BY 1, 2, 3",
            "SELECT plug.plug, wall, clock, milliwatt_hours FROM counter JOIN plug ON plug.id = counter.plug ORDER BY 1, 2",
            "SELECT plug.plug, boot.boot, origin, newest FROM boot JOIN plug ON plug.id = boot.plug ORDER BY 1, 2",
            "SELECT boot.boot, first, last FROM fetched JOIN boot ON boot.id = fetched.boot ORDER BY 1, 2",
            "SELECT plug, longest, cursor FROM plug ORDER BY 1",
        ]
        return try queue.read { database in
            try tables.flatMap { sql in try Row.fetchAll(database, sql: sql).map { "\($0.databaseValues)" } }
        }
    }
}
