import Foundation
import GRDBSQLite
import LinuxSystem
import Metering
import PlugModel
import PowerHistory
import ProtocolCore

/// Stores samples in a history in the same batches as a daemon: every ten minutes the full chunks and the open chunk.
struct RecordedPlugs {
    /// The recorder's interval in milliseconds.
    static let interval: Int64 = 600_000

    let history: PowerHistory
    private let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!

    /// Returns the id of a simulated plug.
    static func id(_ number: Int) -> PlugID {
        let digits = String(number, radix: 16)
        return PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits)!
    }

    /// Returns the batches of a plug, in their order.
    ///
    /// - Parameter whole: true for the batches of a backfill after a long absence: up to 64 complete chunks per batch.
    func batches(of samples: [Sample], plug: PlugID, origin: Int64 = 0, whole: Bool = false) -> [HistoryBatch] {
        var encoder = SampleChunkEncoder()
        if whole {
            let chunks = encoder.append(contentsOf: samples) + [encoder.seal()].compactMap(\.self)
            return stride(from: 0, to: chunks.count, by: 64).map { begin in
                batch(chunks[begin..<min(begin + 64, chunks.count)], plug, origin)
            }
        }
        var batches: [HistoryBatch] = []
        var sealed: [SampleChunk] = []
        var next = (samples.first?.milliseconds ?? 0) + Self.interval
        for sample in samples {
            if sample.milliseconds >= next {
                // A copy is sealed, so that the open chunk continues to grow.
                var open = encoder
                batches.append(batch((sealed + [open.seal()].compactMap(\.self))[...], plug, origin))
                sealed = []
                while next <= sample.milliseconds { next += Self.interval }
            }
            if let chunk = encoder.append(sample) { sealed.append(chunk) }
        }
        batches.append(batch((sealed + [encoder.seal()].compactMap(\.self))[...], plug, origin))
        return batches
    }

    private func batch(_ chunks: ArraySlice<SampleChunk>, _ plug: PlugID, _ origin: Int64) -> HistoryBatch {
        var batch = HistoryBatch()
        batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: origin, chunk: $0) }
        if let first = chunks.first, let last = chunks.last {
            let span = first.firstMilliseconds...last.lastMilliseconds
            batch.fetched = [FetchedSpan(plug: plug, boot: boot, span: span)]
        }
        return batch
    }

    func store(_ batches: [HistoryBatch]) throws { for batch in batches { try history.record(batch) } }
}

/// A temporary folder that is removed at the end of its scope.
struct ScratchFolder: ~Copyable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "smartplug-history-\(getpid())-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Returns the size of a history's database in bytes after a checkpoint of the write-ahead log.
func historySize(_ directory: String) throws -> Double {
    let path = directory + "/history.sqlite"
    var database: OpaquePointer?
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw BenchmarkError("SQLite cannot open \(path)") }
    defer { sqlite3_close(database) }
    sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    return try fileSize(path)
}

func fileSize(_ path: String) throws -> Double {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    guard let size = attributes[.size] as? UInt64 else { throw BenchmarkError("\(path) has no size") }
    return Double(size)
}

/// Runs `work` and returns the processor time of all threads of this process in seconds, user and system.
func processorSeconds(_ work: () throws -> Void) rethrows -> Double {
    func used() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
    let before = used()
    try work()
    return used() - before
}

func secondsTaken(_ work: () throws -> Void) rethrows -> Double {
    let began = BootClock.now
    try work()
    return Double((BootClock.now - began).wholeNanoseconds) / 1e9
}
