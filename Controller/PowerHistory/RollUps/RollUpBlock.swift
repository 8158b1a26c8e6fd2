/// The entries of one step in one cell of the database, packed as varints:
///
///     0     format, 0xB1
///     1-    runs until the end: number of skipped entries, number of entries (at least 1), and for each entry:
///           1. the step's length minus the covered time, milliseconds; length + 1: no power, and 2 to 4 are absent
///           2. least power minus that of the previous entry (zigzag, 0.1 W; for the first: minus 0)
///           3. greatest minus least power (0.1 W)
///           4. mean minus least power (zigzag, mW)
///           5. except for minutes: energy minus mean × covered time (zigzag, µWh)
///           6. except for minutes: estimated energy (zigzag, µWh)
///     last 4  CRC-32 of all previous bytes, big endian
struct RollUpBlock {
    let step: RollUpStep
    /// One element per step of time in the block; nil if nothing is known.
    private(set) var entries: [RollUpEntry?]

    private static let format: UInt8 = 0xB1
    /// Energies beyond this limit (nine million kilowatt-hours) are damage. The limit prevents an overflow of sums.
    private static let energyLimit: Int64 = 1 << 53

    init(_ step: RollUpStep) {
        self.step = step
        entries = Array(repeating: nil, count: step.entriesInBlock)
    }

    var isEmpty: Bool { entries.allSatisfy { $0 == nil } }

    subscript(index: Int) -> RollUpEntry? {
        get { entries[index] }
        set { entries[index] = newValue.flatMap { $0.isEmpty ? nil : $0 } }
    }

    init(_ step: RollUpStep, decoding bytes: [UInt8]) throws(CellDamage) {
        self.init(step)
        var reader = try ByteReader(sealed: bytes)
        guard try reader.byte() == Self.format else { throw CellDamage() }
        var place = 0
        var least: Int32 = 0
        while !reader.isAtEnd {
            let (skipped, count) = (try reader.varint(), try reader.varint())
            guard count >= 1, skipped <= UInt64(entries.count - place),
                count <= UInt64(entries.count - place) - skipped
            else { throw CellDamage() }
            place += Int(skipped)
            for _ in 0..<count {
                entries[place] = try Self.entry(&reader, step, &least)
                place += 1
            }
        }
    }

    private static func entry(
        _ reader: inout ByteReader, _ step: RollUpStep, _ least: inout Int32
    ) throws(CellDamage) -> RollUpEntry {
        let length = UInt64(step.milliseconds)
        let missing = try reader.varint()
        guard missing <= length + 1 else { throw CellDamage() }
        var entry = RollUpEntry()
        if missing <= length {
            entry.covered = Int64(length - missing)
            let change = try reader.zigzag()
            let range = try reader.varint()
            let mean = try reader.zigzag()
            let (next, overflow) = change.addingReportingOverflow(Int64(least))
            guard !overflow, let low = Int32(exactly: next), range <= UInt64(UInt32.max),
                let high = Int32(exactly: Int64(low) + Int64(range)), abs(mean.clamped) <= 1 << 40
            else { throw CellDamage() }
            least = low
            entry.power = .init(mean: Int64(low) * 100 + mean, least: low, greatest: high)
        }
        guard step != .minute else { return entry }
        let energy = try reader.zigzag()
        entry.estimated = try reader.zigzag()
        guard abs(energy.clamped) <= energyLimit, abs(entry.estimated.clamped) <= energyLimit else {
            throw CellDamage()
        }
        entry.energy = energy + entry.expectedEnergy
        return entry
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.format)
        var (place, least, skipped) = (0, Int32(0), 0)
        while place < entries.count {
            let run = entries[place...].prefix { $0 != nil }
            if run.isEmpty {
                skipped += 1
                place += 1
                continue
            }
            writer.appendVarint(UInt64(skipped))
            writer.appendVarint(UInt64(run.count))
            for case let entry? in run { append(entry, to: &writer, &least) }
            (skipped, place) = (0, place + run.count)
        }
        writer.seal()
        return writer.bytes
    }

    private func append(_ entry: RollUpEntry, to writer: inout ByteWriter, _ least: inout Int32) {
        let length = UInt64(step.milliseconds)
        if let power = entry.power {
            writer.appendVarint(length - UInt64(entry.covered))
            writer.appendZigzag(Int64(power.least) - Int64(least))
            writer.appendVarint(UInt64(Int64(power.greatest) - Int64(power.least)))
            writer.appendZigzag(power.mean - Int64(power.least) * 100)
            least = power.least
        } else {
            writer.appendVarint(length + 1)
        }
        guard step != .minute else { return }
        writer.appendZigzag(entry.energy - entry.expectedEnergy)
        writer.appendZigzag(entry.estimated)
    }
}

extension RollUpEntry {
    /// The product of mean and covered time, in microwatt-hours. The stored energy usually differs little from this
    /// product.
    fileprivate var expectedEnergy: Int64 {
        guard let power else { return 0 }
        // Only damaged or implausible data exceed Int64, and for these the result does not matter.
        return power.mean.multipliedReportingOverflow(by: covered).partialValue / 3600
    }
}

extension Int64 {
    /// The number, except that the minimum, whose magnitude does not fit, becomes the minimum plus one.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}

extension RollUpStep {
    /// The number of entries in a cell: four hours of minutes, one day of quarter-hours, one week of hours, or 64 days.
    /// A cell is small enough to be rewritten every ten minutes, and large enough that the overhead of its row is
    /// small.
    var entriesInBlock: Int {
        switch self {
        case .minute: 240
        case .quarter: 96
        case .hour: 168
        case .day: 64
        }
    }

    /// The step from which entries of this step are summed up; nil for minutes, which are computed from samples.
    var finer: RollUpStep? { RollUpStep(rawValue: rawValue - 1) }

    var blockMilliseconds: Int64 { milliseconds * Int64(entriesInBlock) }
}
