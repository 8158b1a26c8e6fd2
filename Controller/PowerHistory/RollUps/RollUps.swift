import GRDB
import Metering

/// The roll-ups of one plug within one transaction. Cells are read on use, changed in memory, and written by ``flush()``. A
/// damaged cell is recomputed from the finer data.
final class RollUps {
    struct Key: Hashable {
        var step: RollUpStep
        var block: Int64
    }

    /// The number of cells in memory above which further unchanged cells are not kept. A cell needs up to 12 KB. The
    /// cells that a batch reads repeatedly fit within the limit, and a single read of several years does not fill the
    /// memory.
    private static let cacheLimit = 64

    let database: Database
    /// The row of the plug.
    let plug: Int64
    private var blocks: [Key: RollUpBlock] = [:]
    private var changed: Set<Key> = []
    /// True if a damaged cell was found. The caller then reports the damage.
    private(set) var foundDamage = false

    init(_ database: Database, plug: Int64) {
        self.database = database
        self.plug = plug
    }

    /// Calls the body for each existing entry with `from <= start < to`, in ascending order of time.
    func each(
        _ step: RollUpStep, from: Int64, to: Int64, _ body: (_ start: Int64, _ entry: RollUpEntry) -> Void
    ) throws {
        for number in try blockNumbers(step, from: from, to: to) {
            let block = try block(Key(step: step, block: number))
            var start = number * step.blockMilliseconds
            for entry in block.entries {
                if let entry, start >= from, start < to { body(start, entry) }
                start += step.milliseconds
            }
        }
    }

    func entries(_ step: RollUpStep, from: Int64, to: Int64) throws -> [(start: Int64, entry: RollUpEntry)] {
        var entries: [(start: Int64, entry: RollUpEntry)] = []
        try each(step, from: from, to: to) { entries.append(($0, $1)) }
        return entries
    }

    /// Replaces all entries with `from <= start < to` by these entries, which are sorted.
    func replace(
        _ step: RollUpStep, from: Int64, to: Int64, by entries: [(start: Int64, entry: RollUpEntry)]
    ) throws {
        let length = step.blockMilliseconds
        var numbers = Set(try blockNumbers(step, from: from, to: to))
        for entry in entries where !entry.entry.isEmpty { numbers.insert(floorQuotient(entry.start, length)) }
        var next = 0
        for number in numbers.sorted() {
            let key = Key(step: step, block: number)
            let before = try block(key)
            var block = before
            let origin = number * length
            let first = Int((max(from, origin) - origin) / step.milliseconds)
            let end = Int((min(to, origin + length) - origin + step.milliseconds - 1) / step.milliseconds)
            for index in first..<end { block[index] = nil }
            while next < entries.count, entries[next].start < origin + length {
                let (start, entry) = entries[next]
                if start >= origin { block[Int((start - origin) / step.milliseconds)] = entry }
                next += 1
            }
            guard block.entries != before.entries else { continue }
            blocks[key] = block
            changed.insert(key)
        }
    }

    /// Writes the changed cells.
    func flush() throws {
        for key in changed.sorted(by: { ($0.step.rawValue, $0.block) < ($1.step.rawValue, $1.block) }) {
            guard let block = blocks[key] else { continue }
            let place = (
                SQLValue.integer(plug), SQLValue.integer(Int64(key.step.rawValue)), SQLValue.integer(key.block)
            )
            if block.isEmpty {
                try database.change(
                    "DELETE FROM rollup WHERE plug = ? AND step = ? AND block = ?", place.0, place.1, place.2)
            } else {
                try database.change(
                    """
                    INSERT INTO rollup (plug, step, block, bytes) VALUES (?, ?, ?, ?)
                    ON CONFLICT (plug, step, block) DO UPDATE SET bytes = excluded.bytes
                    """, place.0, place.1, place.2, .bytes(block.bytes))
            }
        }
        changed = []
    }

    /// Returns the blocks that are stored or changed, sorted.
    private func blockNumbers(_ step: RollUpStep, from: Int64, to: Int64) throws -> [Int64] {
        guard from < to else { return [] }
        let range = floorQuotient(from, step.blockMilliseconds)...floorQuotient(to - 1, step.blockMilliseconds)
        var numbers: [Int64] = []
        try database.query(
            "SELECT block FROM rollup WHERE plug = ? AND step = ? AND block BETWEEN ? AND ? ORDER BY block",
            .integer(plug), .integer(Int64(step.rawValue)), .integer(range.lowerBound), .integer(range.upperBound)
        ) { numbers.append($0.integer(0)) }
        let unwritten = changed.filter { $0.step == step && range.contains($0.block) }.map(\.block)
        return unwritten.isEmpty ? numbers : Set(numbers).union(unwritten).sorted()
    }

    private func block(_ key: Key) throws -> RollUpBlock {
        if let block = blocks[key] { return block }
        let block = try stored(key)
        if blocks.count < Self.cacheLimit { blocks[key] = block }
        return block
    }

    private func stored(_ key: Key) throws -> RollUpBlock {
        var block = RollUpBlock(key.step)
        do {
            try database.query(
                "SELECT bytes FROM rollup WHERE plug = ? AND step = ? AND block = ?", .integer(plug),
                .integer(Int64(key.step.rawValue)), .integer(key.block)
            ) { row in
                block = try RollUpBlock(key.step, decoding: row.bytes(0))
            }
        } catch is CellDamage {
            return try remade(key)
        } catch let error as DatabaseError where error.isDamage {
            return try remade(key)
        }
        return block
    }

    private func remade(_ key: Key) throws -> RollUpBlock {
        foundDamage = true
        let start = key.block * key.step.blockMilliseconds
        var block = RollUpBlock(key.step)
        for (time, entry) in try computed(key.step, from: start, to: start + key.step.blockMilliseconds) {
            block[Int((time - start) / key.step.milliseconds)] = entry
        }
        return block
    }
}
