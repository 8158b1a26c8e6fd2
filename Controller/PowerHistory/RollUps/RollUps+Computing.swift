import GRDB
import Metering

extension RollUps {
    /// Recomputes all entries that depend on samples or counter readings in these spans of the wall clock, both ends
    /// included.
    func recompute(_ spans: [ClosedRange<Int64>]) throws {
        let minute = RollUpStep.minute.milliseconds
        let forgotten = try forgotten()
        for span in spans {
            // The trapezoids to the neighbors on both sides change too.
            let first = floorMultiple(span.lowerBound - RollUpEntry.longestStep, minute)
            let end = floorMultiple(span.upperBound + RollUpEntry.longestStep, minute) + minute
            let from = max(first, ceilingMultiple(forgotten.samples, minute))
            if from < end {
                try replace(.minute, from: from, to: end, by: try computed(.minute, from: from, to: end))
            }
            let energy = try energySpan(around: first...end)
            let begin = max(
                energy.lowerBound, ceilingMultiple(forgotten.minutes, RollUpStep.quarter.milliseconds))
            guard begin < energy.upperBound else { continue }
            for step in [RollUpStep.quarter, .hour, .day] {
                let from = floorMultiple(begin, step.milliseconds)
                let to = ceilingMultiple(energy.upperBound, step.milliseconds)
                try replace(step, from: from, to: to, by: try computed(step, from: from, to: to))
            }
        }
    }

    /// Computes the entries with `from <= start < to`. Both are multiples of the step.
    func computed(_ step: RollUpStep, from: Int64, to: Int64) throws -> [(start: Int64, entry: RollUpEntry)] {
        switch step {
        case .minute: try minutes(from: from, to: to)
        case .quarter: try quarters(from: from, to: to)
        case .hour, .day: try sums(of: step.finer ?? .quarter, by: step, from: from, to: to)
        }
    }

    private func minutes(from: Int64, to: Int64) throws -> [(start: Int64, entry: RollUpEntry)] {
        var sum = SampleSum(step: .minute)
        let margin = RollUpEntry.longestStep
        _ = try database.eachChunk(of: plug, from: from - margin, to: to + margin) { samples, origin in
            sum.add(samples, origin: origin, from: from - margin, to: to + margin)
        }
        return sum.finish().filter { from <= $0.start && $0.start < to }
    }

    private func sums(
        of finer: RollUpStep, by step: RollUpStep, from: Int64, to: Int64
    ) throws -> [(start: Int64, entry: RollUpEntry)] {
        var sums: [(start: Int64, sum: EntrySum)] = []
        try each(finer, from: from, to: to) { start, entry in
            let start = floorMultiple(start, step.milliseconds)
            if sums.last?.start != start { sums.append((start, EntrySum())) }
            sums[sums.count - 1].sum.add(entry)
        }
        return sums.map { ($0.start, $0.sum.entry) }
    }

    /// The greatest energy of a quarter in microwatt-hours (140 MW). Greater values come from implausible readings. The
    /// limit ensures that the sum of a day fits into a cell.
    private static let greatestEnergy: Int64 = 1 << 45

    /// Computes the quarters since the last stored counter reading as if this later reading were stored.
    ///
    /// - Returns: The beginning of the first quarter, and the entries. Nil if no reading is stored, if a later one is
    ///   stored, or if the counter fell.
    func quarters(upTo latest: CounterReading) throws -> (from: Int64, entries: [(start: Int64, entry: RollUpEntry)])? {
        let limit = BatchTransaction.timeLimit
        guard latest.origin.magnitude <= limit, latest.milliseconds.magnitude <= limit else { return nil }
        let time = latest.origin + latest.milliseconds
        guard let last = try counterPoint(atOrBefore: time), last.time < time,
            time - last.time <= EnergyShares.longestInterval, last.milliwattHours <= latest.milliwattHours,
            try counterPoint(atOrAfter: time) == nil
        else { return nil }
        let boot = try database.integer(
            "SELECT id FROM boot WHERE plug = ? AND boot = ?", .integer(plug), .bytes(latest.boot.bytes))
        // No row has the number -1.
        let point = CounterPoint(time: time, boot: boot ?? -1, milliwattHours: latest.milliwattHours)
        let length = RollUpStep.quarter.milliseconds
        let from = floorMultiple(last.time, length)
        return (from, try quarters(from: from, to: floorMultiple(time, length) + length, and: point))
    }

    private func quarters(
        from: Int64, to: Int64, and latest: CounterPoint? = nil
    ) throws -> [(start: Int64, entry: RollUpEntry)] {
        let length = RollUpStep.quarter.milliseconds
        let points = try counterPoints(from: from, to: to) + [latest].compactMap(\.self)
        let stretch = (min(points.first?.time ?? from, from), max(points.last?.time ?? to, to))
        let minutes = try entries(
            .minute, from: floorMultiple(stretch.0, RollUpStep.minute.milliseconds), to: stretch.1)
        let shares = try EnergyShares(
            quarters: from / length..<to / length, points: points, minutes: minutes, cut: cut)
        var quarters: [Int64: EntrySum] = [:]
        for (start, entry) in minutes where start >= from && start < to {
            quarters[floorMultiple(start, length), default: EntrySum()].add(entry)
        }
        return shares.shares.enumerated().compactMap { index, share in
            let start = from + Int64(index) * length
            var entry = quarters[start]?.entry ?? RollUpEntry()
            entry.energy = Int64(nearest: share.energy, limit: Self.greatestEnergy)
            entry.estimated = Int64(nearest: share.estimated, limit: Self.greatestEnergy)
            return entry.isEmpty ? nil : (start, entry)
        }
    }

    /// Returns the energy that the samples show for a part of a minute, and for the whole minute; nil without samples
    /// in or near the minute.
    private func cut(from: Int64, to: Int64) throws -> EnergyShares.Cut? {
        let minute = floorMultiple(from, RollUpStep.minute.milliseconds)
        let end = minute + RollUpStep.minute.milliseconds
        let margin = RollUpEntry.longestStep
        var cut = EnergyShares.Cut(part: 0, whole: 0)
        var last: (time: Int64, power: Int32)?
        _ = try database.eachChunk(of: plug, from: minute - margin, to: end + margin) { samples, origin in
            for sample in samples {
                let now = sample.milliseconds &+ origin
                guard now >= minute - margin, now <= end + margin, last.map({ $0.time < now }) ?? true else { continue }
                if let last, now - last.time <= margin {
                    let line = PowerLine(from: last, to: (now, sample.deciwatts))
                    cut.part += line.integral(from: from, to: to)
                    cut.whole += line.integral(from: minute, to: end)
                }
                last = (now, sample.deciwatts)
            }
        }
        return last == nil ? nil : cut
    }

    /// Returns the quarters whose energy depends on minutes in this span. They extend to the counter readings on both
    /// sides of each end, if these are at most `EnergyShares.longestInterval` apart.
    private func energySpan(around span: ClosedRange<Int64>) throws -> Range<Int64> {
        let length = RollUpStep.quarter.milliseconds
        var (from, to) = (span.lowerBound, span.upperBound)
        for edge in [span.lowerBound, span.upperBound] {
            guard let before = try counterPoint(atOrBefore: edge), let after = try counterPoint(atOrAfter: edge),
                after.time - before.time <= EnergyShares.longestInterval
            else { continue }
            (from, to) = (min(from, before.time), max(to, after.time))
        }
        return floorMultiple(from, length)..<ceilingMultiple(to, length)
    }

    /// Returns the times before which samples and minutes were deleted by age.
    private func forgotten() throws -> (samples: Int64, minutes: Int64) {
        var horizon = (samples: Int64.min / 2, minutes: Int64.min / 2)
        try database.query("SELECT samples_from, minutes_from FROM plug WHERE id = ?", .integer(plug)) { row in
            if !row.isNull(0) { horizon.samples = row.time(0) }
            if !row.isNull(1) { horizon.minutes = row.time(1) }
        }
        return horizon
    }
}

/// Active power between two neighboring samples, which changes linearly. A part with a negative mean (energy is fed
/// back) counts as zero.
private struct PowerLine {
    let from: (time: Int64, power: Int32)
    let to: (time: Int64, power: Int32)

    /// Deciwatts times milliseconds of the part within this time.
    func integral(from begin: Int64, to end: Int64) -> Double {
        let (first, last) = (max(begin, from.time), min(end, to.time))
        guard first < last else { return 0 }
        return max(0, (power(at: first) + power(at: last)) / 2) * Double(last - first)
    }

    private func power(at time: Int64) -> Double {
        let part = Double(time - from.time) / Double(to.time - from.time)
        return Double(from.power) + (Double(to.power) - Double(from.power)) * part
    }
}
