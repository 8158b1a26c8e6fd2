import Metering
import PlugModel
import PowerHistory
import ProtocolCore
import TestSupport
import Testing

@testable import HistoryDelivery

/// A model of the database. It contains only the results of committed transactions.
private struct ModelDatabase {
    struct Key: Hashable {
        var plug: PlugID
        var boot: BootID
        var first: Int64
    }

    var position: FeedPosition?
    var samples: [PlugID: [Int64: Sample]] = [:]
    var chunks: [Key: (known: KnownChunk, bytes: [UInt8])] = [:]
    var rollUps: [RollUpStep: [PlugID: [Int64: RollUpRow]]] = [:]

    func known(_ chunk: ChangedChunk) -> KnownChunk? { chunks[Key(chunk)]?.known }

    /// Applies the changes that `DatabasePart` makes with SQL.
    mutating func take(_ changes: HistoryChanges, _ rewrite: SampleRewrite, epoch: [UInt8]) throws {
        for (chunk, spans, _) in rewrite.chunks {
            let known = KnownChunk(since: chunk.since, until: chunk.until, rows: spans.rows, digest: spans.digest)
            chunks[Key(chunk)] = (known, chunk.stored.chunk.bytes)
        }
        for (plug, spans) in rewrite.spans {
            for span in spans { samples[plug] = samples[plug]?.filter { !span.contains($0.key) } }
            rewrite.eachSample(of: plug) { sample in
                // The table's primary key permits only one sample per plug and time.
                if let before = samples[plug, default: [:]].updateValue(sample.sample, forKey: sample.at) {
                    Issue.record("the database has two samples at \(sample.at): \(before)")
                }
            }
        }
        for part in changes.rollUps {
            var rows = rollUps[part.step, default: [:]][part.plug, default: [:]].filter { !part.span.contains($0.key) }
            for row in part.rows { rows[row.start] = row }
            rollUps[part.step, default: [:]][part.plug] = rows
        }
        position = FeedPosition(epoch: epoch, number: changes.through)
    }
}

extension ModelDatabase.Key {
    fileprivate init(_ chunk: ChangedChunk) {
        self.init(plug: chunk.stored.plug, boot: chunk.stored.boot, first: chunk.stored.chunk.firstMilliseconds)
    }
}

/// Simulates deliveries to a database that is killed, loses answers and is restored from backups. Meanwhile the history
/// receives late, partial and overlapping chunks, and the wall clock is changed.
@Suite struct InterleavingTests {
    private static let plugs = (1...2).map { PlugID(rawValue: "00000000a00\($0)")! }
    private static let boots = (1...2).map { BootID(bytes: Array(repeating: UInt8($0), count: 16))! }
    private static let midnight: Int64 = 1_709_510_400_000

    @Test(
        "After random faults the database has each sample exactly once", arguments: 1...8)
    func eachSampleIsThereOnce(seed: UInt64) throws {
        let directory = TestFolder(on: .memory)
        var random = SeededRandom(seed: seed)
        let history = try PowerHistory(directory.path, role: .recorder)
        let source = HistorySource(history)
        var (database, backups) = (ModelDatabase(), [ModelDatabase()])
        var machine = DeliveryMachine(interval: .seconds(2), seed: seed)
        var (now, event, position) = (Instant(nanoseconds: 0), DeliveryMachine.Event.started, FeedPosition?.none)
        var isQuiet = false
        for step in 0... {
            if step == 80 { isQuiet = true }
            // A random event in the house, at the database or in the daemon.
            if !isQuiet, random.chance(0.6) { try record(into: history, &random) }
            if !isQuiet, random.chance(0.1) { backups.append(database) }
            if !isQuiet, random.chance(0.08), let older = backups.randomElement(using: &random) {
                database = older
                (event, position) = (.failed(DeliveryFault(reason: "it is away")), nil)
            }
            if !isQuiet, random.chance(0.05) {
                machine = DeliveryMachine(interval: .seconds(2), seed: random.next())
                (event, position) = (.started, nil)
            }
            var work: DeliveryMachine.Action?
            for action in machine.handle(event, now: now) {
                if case .tell = action { continue }
                work = action
            }
            guard let work else {
                if isQuiet, let position, try source.hasMore(after: position) == false { break }
                now = max(now, machine.nextDeadline ?? now)
                event = .deadlineReached
                continue
            }
            event = try perform(work, source, &database, &position, fails: !isQuiet && random.chance(0.25), &random)
            try #require(step < 5000, "the delivery does not finish")
        }
        try compare(database, with: history)
    }

    private func perform(
        _ action: DeliveryMachine.Action, _ source: HistorySource, _ database: inout ModelDatabase,
        _ position: inout FeedPosition?, fails: Bool, _ random: inout SeededRandom
    ) throws -> DeliveryMachine.Event {
        let lost = DeliveryMachine.Event.failed(DeliveryFault(reason: "the connection has ended"))
        switch action {
        case .connect:
            if fails { return lost }
            let begins = try source.begin(after: database.position)
            position = begins
            return .connected(after: begins.number)
        case .look:
            guard let here = position, let hasMore = try source.hasMore(after: here) else { return lost }
            return .looked(hasMore: hasMore)
        case .deliver(let number, let limit):
            let here = try #require(position)
            let history = try source.history()
            let limit = min(limit, 1 + Int(random.next() % 8))
            var changes = try history.changes(after: number, atMost: limit, sampleLimit: 300, samples: true)
            var besides: [PlugID: [ClosedRange<Int64>]] = [:]
            while true {
                let elsewhere = SampleRewrite.elsewhere(changes, known: changes.chunks.map(database.known))
                if elsewhere == besides { break }
                besides = elsewhere
                changes = try history.changes(
                    after: number, atMost: limit, sampleLimit: 300, samples: true, besides: besides)
            }
            let rewrite = SampleRewrite(
                changes, known: changes.chunks.map(database.known), times: Int64.min...Int64.max)
            // A failure loses the transaction, or only the database's answer after the commit.
            let isKept = !fails || random.chance(0.5)
            if isKept { try database.take(changes, rewrite, epoch: here.epoch) }
            if fails { return lost }
            position = FeedPosition(epoch: here.epoch, number: changes.through)
            return .delivered(through: changes.through, isAll: changes.isAll)
        case .tell: preconditionFailure("a notice is not a delivery")
        }
    }

    /// Records a random chunk. It may extend or overlap stored ones, and sometimes the wall clock has changed.
    private func record(into history: PowerHistory, _ random: inout SeededRandom) throws {
        let (plug, boot) = (Self.plugs.randomElement(using: &random)!, Self.boots.randomElement(using: &random)!)
        let first = Int(random.next() % 20) * 50
        let count = 1 + Int(random.next() % 150)
        let clock = random.chance(0.1) ? Int64(random.next() % 5) * 300_000 : 0
        let shift = boot == Self.boots[0] ? 0 : Int64(400_000)
        var encoder = SampleChunkEncoder()
        let other = random.chance(0.05) ? 7 : 0
        for second in first..<first + count {
            _ = encoder.append(Sample(milliseconds: Int64(second) * 1000, deciwatts: Int32(second % 97 * 10 + other)))
        }
        guard let chunk = encoder.seal() else { return }
        var batch = HistoryBatch()
        batch.names = [plug: "Lamp"]
        batch.chunks = [StoredChunk(plug: plug, boot: boot, origin: Self.midnight + shift + clock, chunk: chunk)]
        if random.chance(0.3) {
            batch.counters = [
                CounterReading(
                    plug: plug, boot: boot, origin: Self.midnight + shift + clock, milliseconds: Int64(first) * 1000,
                    milliwattHours: UInt64(first) * 3)
            ]
        }
        try history.record(batch)
    }

    private func compare(_ database: ModelDatabase, with history: PowerHistory) throws {
        for plug in Self.plugs {
            var samples: [Int64: Sample] = [:]
            try history.samples(of: plug, from: 0, to: .max) { samples[$0] = $1 }
            let there = database.samples[plug, default: [:]]
            #expect(there.count == samples.count)
            for (at, sample) in samples { #expect(there[at]?.deciwatts == sample.deciwatts) }
            for step in RollUpStep.allCases {
                let rows = database.rollUps[step]?[plug] ?? [:]
                let local = try history.summaries(of: plug, step: step, from: 0, to: .max / 2)
                let known = rows.values.filter { $0.mean != nil }.sorted { $0.start < $1.start }
                #expect(known.map(\.start) == local.map(\.start))
                for (row, summary) in zip(known, local) {
                    #expect(abs(row.wattHours * 1000 - summary.milliwattHours) < 0.001)
                    #expect(row.mean == summary.mean && row.coveredMilliseconds == summary.coveredMilliseconds)
                }
            }
        }
    }
}
