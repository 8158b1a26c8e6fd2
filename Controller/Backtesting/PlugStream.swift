import Automation
import Metering
import PlugModel
import PowerHistory
import ProtocolCore

/// Delivers a plug's recorded samples to an engine. A tight loop of comparisons skips quiet samples, which change
/// nothing in the engine. If another event changes the engine's ``QuietBand``, the stream goes back and checks the
/// skipped samples again. Times are milliseconds since 1970.
struct PlugStream: Sendable {
    /// The kind of the next event of the plug.
    enum Stop: Hashable {
        /// A sample that the engine must receive.
        case sample
        /// The end of the samples in memory.
        case refill
        /// A time without samples that is longer than ``SamplePace/away``.
        case lost
        /// A mark of the energy count (``EnergyCount/Mark``).
        case energy
    }

    let name: String
    let id: PlugID
    /// The engine's index of the plug; nil until the plug has appeared.
    var index: PlugIndex?
    /// The pace of the samples in memory.
    private(set) var pace = SamplePace()
    private var covered: PlugCoverage
    var isPresent = false
    /// True if the plug is not metered and only its journal was recorded.
    var isJournalled = false
    /// The power levels that show when the plug was switched; nil if its journal records that.
    var level: SwitchingLevel? { didSet { asked = nil } }
    var isOn: Bool { level?.isOn ?? false }
    /// The plug's energy count; nil if no rule needs it.
    var energy: EnergyCount?

    private var recorded: PacedSamples
    private var samples: [RecordedPower] = []
    /// The index of the first sample that the engine does not know.
    private var next = 0
    /// The samples from ``next`` up to this index are quiet.
    private var scanned = 0
    /// The time of the last sample that the engine knows.
    private(set) var last = Int64.min
    private var band = ScanBand.nothing
    /// The band of the engine from which ``band`` was calculated, or nil.
    private var asked: QuietBand?
    private var hasEnded = false
    /// False for a plug without samples in the span, for example without a meter. Such a plug is always present.
    private(set) var hasSamples = false

    init(name: String, id: PlugID, cursor: SampleCursor) {
        self.name = name
        self.id = id
        recorded = PacedSamples(cursor)
        covered = PlugCoverage(plug: name)
    }

    // MARK: Next stop

    /// Scans the samples up to the time `barrier`, included. Returns the kind and the time of the plug's next event;
    /// nil if the plug has no event up to then.
    mutating func stop(before barrier: Int64) -> (time: Int64, stop: Stop)? {
        guard !hasEnded else {
            let isLost = isPresent && last > .min && last + pace.away <= barrier && hasSamples
            return isLost ? (last + pace.away, .lost) : nil
        }
        if isPresent { scan(through: barrier) }
        if let mark = energy?.nextMark(before: barrier), mark <= barrier,
            scanned == samples.count || samples[scanned].milliseconds > mark
        {
            return (mark, .energy)
        }
        let before = scanned > next ? samples[scanned - 1].milliseconds : last
        guard scanned < samples.count else { return before <= barrier ? (max(before, .min), .refill) : nil }
        let time = samples[scanned].milliseconds
        if isPresent, time - before > pace.away {
            return before + pace.away <= barrier ? (before + pace.away, .lost) : nil
        }
        return time <= barrier ? (time, .sample) : nil
    }

    private mutating func scan(through barrier: Int64) {
        guard scanned < samples.count else { return }
        let before = scanned > next ? samples[scanned - 1].milliseconds : last
        // The engine may accept a longer gap, but the plug is lost in a gap of more than `pace.away`.
        var band = band
        band.gap = min(band.gap, pace.away)
        scanned = band.end(of: samples.span, from: scanned, after: before, through: min(barrier, band.until))
    }

    // MARK: Delivery to the engine

    /// Informs the engine of the quiet samples and the quiet energy marks up to a time.
    mutating func settle(_ engine: inout RuleEngine, through time: Int64) {
        if let index, let mark = energy?.settle(through: time) {
            engine.skip(index, milliwattHours: mark.milliwattHours, now: mark.instant)
        }
        guard next < scanned, samples[next].milliseconds <= time, let index else { return }
        var (low, high) = (next + 1, scanned)
        // Usually all quiet samples are before this time; otherwise the index is estimated from the pace.
        let guess = next + Int((time - samples[next].milliseconds) / pace.usual)
        if samples[scanned - 1].milliseconds <= time {
            low = scanned
        } else if guess + 1 < scanned, samples[guess].milliseconds <= time, samples[guess + 1].milliseconds > time {
            (low, high) = (guess + 1, guess + 1)
        }
        while low < high {
            let middle = (low + high) / 2
            if samples[middle].milliseconds <= time { low = middle + 1 } else { high = middle }
        }
        let sample = samples[low - 1]
        (next, last) = (low, sample.milliseconds)
        engine.skip(index, activePower: sample.activePower, time: sample.time, now: sample.time)
    }

    /// Delivers samples that only the appliance detector needs, up to a time.
    ///
    /// - Returns: True if at least one sample was delivered.
    mutating func watch(_ engine: inout RuleEngine, through time: Int64) -> Bool {
        guard let index, next == scanned else { return false }
        let end = ScanBand.all(gap: pace.away).within(level)
            .end(of: samples.span, from: next, after: last, through: time)
        let count = engine.watch(index, samples.span.extracting(next..<end))
        guard count > 0 else { return false }
        (next, scanned, last) = (next + count, next + count, samples[next + count - 1].milliseconds)
        return true
    }

    /// Sets the quiet band of the engine. If it has changed, the skipped samples are checked again.
    mutating func setQuiet(_ quiet: QuietBand) {
        // Usually the band has not changed. The comparison avoids the conversion to tenths, which would dominate the
        // time of a run.
        guard !(asked?.permitsSame(as: quiet) ?? false) else { return }
        asked = quiet
        let new = ScanBand(quiet).within(level)
        guard new != band else { return }
        band = new
        scanned = next
    }

    /// Returns the sample that the engine must receive next. The engine knows all samples before it.
    mutating func take() -> RecordedPower {
        let sample = samples[scanned]
        (next, scanned, last) = (scanned + 1, scanned + 1, sample.milliseconds)
        return sample
    }

    /// - Parameter time: The time at which the plug appeared, which is the time of its first sample or of a journal
    ///   event.
    mutating func appear(at time: Int64) {
        isPresent = true
        (band, asked) = (.nothing, nil)
        last = max(last, time)
    }

    /// Handles the loss of the plug. No sample of an absent plug is quiet.
    mutating func lose() {
        isPresent = false
        (band, asked) = (.nothing, nil)
        scanned = next
    }

    /// Reads the next samples and their pace. The engine must know all samples in memory.
    mutating func refill() throws(HistoryError) {
        guard let (piece, pace) = try recorded.piece() else {
            hasEnded = true
            return
        }
        self.pace = pace
        covered.add(piece, pace)
        energy?.count(piece)
        // Only the used fields are copied, so that many plugs fit into the processor's cache.
        samples = [RecordedPower](capacity: piece.count) { samples in
            for sample in piece {
                samples.append(RecordedPower(milliseconds: sample.milliseconds, deciwatts: sample.deciwatts))
            }
        }
        (next, scanned, hasSamples) = (0, 0, true)
    }

    /// The recorded part of the span; nil for a plug that only has a journal.
    var coverage: PlugCoverage? {
        guard hasSamples || !isJournalled else { return nil }
        var coverage = covered
        coverage.damaged = recorded.damaged
        return coverage
    }
}

/// A quiet band in the integer units of samples.
struct ScanBand: Hashable {
    /// The lowest value, in deciwatts.
    var low: Int32
    /// The distance from the lowest to the highest value, in deciwatts.
    var width: UInt32
    /// The end of the band in milliseconds since 1970, included.
    var until: Int64
    /// The longest distance of two samples, in milliseconds.
    var gap: Int64

    static let nothing = ScanBand(low: 0, width: 0, until: .min, gap: -1)

    /// A band that contains all samples up to the first gap.
    static func all(gap: Int64) -> ScanBand { ScanBand(low: .min, high: .max, until: .max, gap: gap) }

    /// Creates a band from its lowest and its highest value.
    private init(low: Int32, high: Int32, until: Int64, gap: Int64) {
        self.init(low: low, width: UInt32(bitPattern: high &- low), until: until, gap: gap)
    }

    private init(low: Int32, width: UInt32, until: Int64, gap: Int64) {
        (self.low, self.width, self.until, self.gap) = (low, width, until, gap)
    }

    init(_ band: QuietBand) {
        // In virtual time a reading arrives at the time of its measurement.
        guard band.low <= band.high, band.lag <= 0, let low = Self.deciwatts(band.low, .up),
            let high = Self.deciwatts(band.high, .down), low <= high
        else {
            self = .nothing
            return
        }
        self.init(
            low: low, high: high, until: Self.floor(band.until.nanoseconds), gap: Self.floor(band.gap))
    }

    /// Returns the index of the first sample at or after `index` that is not quiet or is later than `limit`; the number
    /// of samples if all are quiet.
    ///
    /// - Parameter before: The time of the previous sample.
    func end(of samples: Span<RecordedPower>, from index: Int, after before: Int64, through limit: Int64) -> Int {
        var (index, before) = (index, before)
        while index < samples.count {
            let sample = samples[index]
            guard UInt32(bitPattern: sample.deciwatts &- low) <= width, sample.milliseconds &- before <= gap,
                sample.milliseconds <= limit
            else { break }
            before = sample.milliseconds
            index &+= 1
        }
        return index
    }

    /// Returns the part of the band whose samples do not show a switching of the plug.
    func within(_ level: SwitchingLevel?) -> ScanBand {
        guard let level, gap >= 0 else { return self }
        let high = low &+ Int32(bitPattern: width)
        let (least, most) = level.isOn ? (max(low, level.off), high) : (low, min(high, level.on - 1))
        return least <= most ? ScanBand(low: least, high: most, until: until, gap: gap) : .nothing
    }

    /// Converts a limit of the band to the nearest number of deciwatts inside the band. Nil for NaN, or if no Int32 is
    /// inside.
    private static func deciwatts(_ watts: Double, _ rule: FloatingPointRoundingRule) -> Int32? {
        guard !watts.isNaN else { return nil }
        let rounded = (watts * 10).rounded(rule)
        guard rounded > Double(Int32.min) else { return rule == .up ? .min : nil }
        guard rounded < Double(Int32.max) else { return rule == .down ? .max : nil }
        var tenths = Int32(rounded)
        // The product `watts * 10` may be slightly less or more than an integer, so the rounded number is corrected.
        if rule == .up {
            if Double(tenths) / 10 < watts { tenths += 1 } else if Double(tenths - 1) / 10 >= watts { tenths -= 1 }
        } else {
            if Double(tenths) / 10 > watts { tenths -= 1 } else if Double(tenths + 1) / 10 <= watts { tenths += 1 }
        }
        return tenths
    }

    private static func floor(_ nanoseconds: Int64) -> Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension QuietBand {
    /// Returns true if two bands are equal, except for the time of their last reading.
    fileprivate func permitsSame(as other: QuietBand) -> Bool {
        low == other.low && high == other.high && until == other.until && gap == other.gap && lag == other.lag
    }
}
