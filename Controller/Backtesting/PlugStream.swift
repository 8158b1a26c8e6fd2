import Automation
import Metering
import PlugModel
import PowerHistory
import ProtocolCore

/// A plug's recorded samples on their way to an engine. Those in which the engine sees nothing new are passed over in a loop that only
/// compares; where it was wrong to, since something else happened meanwhile, it goes back. Times are milliseconds since 1970.
struct PlugStream: Sendable {
    /// What comes next of the plug.
    enum Stop: Hashable {
        /// A sample that the engine has to be told.
        case sample
        /// The samples at hand are at their end.
        case refill
        /// Nothing was recorded for longer than ``SamplePace/away``.
        case lost
        /// What it has taken since it began is counted on.
        case energy
    }

    let name: String
    let id: PlugID
    /// The engine's for it; nil until it has appeared.
    var index: PlugIndex?
    /// Of the samples at hand.
    private(set) var pace = SamplePace()
    private var covered: PlugCoverage
    var isPresent = false
    /// What is not metered of it was told by its journal.
    var isJournalled = false
    /// Where nobody wrote down when it was switched, its power tells.
    var level: OnLevel? { didSet { asked = nil } }
    var isOn: Bool { level?.isOn ?? false }
    /// Counts what it takes; nil where no rule asks.
    var energy: EnergyCount?

    private var recorded: PacedSamples
    private var samples: [RecordedPower] = []
    /// All before it the engine knows.
    private var next = 0
    /// All before it, and after ``next``, are quiet.
    private var scanned = 0
    /// The time of the last sample that the engine knows.
    private(set) var last = Int64.min
    private var band = ScanBand.nothing
    /// What ``band`` was made of; nil where it was made otherwise.
    private var asked: QuietBand?
    private var hasEnded = false
    /// A plug without any, such as one that is not metered, is always there.
    private(set) var hasSamples = false

    init(name: String, id: PlugID, cursor: SampleCursor) {
        self.name = name
        self.id = id
        recorded = PacedSamples(cursor)
        covered = PlugCoverage(plug: name)
    }

    // MARK: What comes next

    /// Looks ahead as far as the barrier (included); what comes next, and when.
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
        // The engine may not mind a hole, but a plug that was away is lost in it.
        var band = band
        band.gap = min(band.gap, pace.away)
        scanned = band.end(of: samples.span, from: scanned, after: before, through: min(barrier, band.until))
    }

    // MARK: What the engine is told

    /// Tells the engine of the quiet samples up to a time, all at once.
    mutating func settle(_ engine: inout RuleEngine, through time: Int64) {
        if let index, let mark = energy?.settle(through: time) {
            engine.skip(index, milliwattHours: mark.milliwattHours, now: mark.instant)
        }
        guard next < scanned, samples[next].milliseconds <= time, let index else { return }
        var (low, high) = (next + 1, scanned)
        // Mostly it is all of them, else as many as an even pace makes.
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

    /// Tells the engine of the samples up to a time, as long as only the appliance on the plug learns of them.
    /// - Returns: whether there are any.
    mutating func watch(_ engine: inout RuleEngine, through time: Int64) -> Bool {
        guard let index, next == scanned else { return false }
        let end = ScanBand.all(gap: pace.away).within(level)
            .end(of: samples.span, from: next, after: last, through: time)
        let count = engine.watch(index, samples.span.extracting(next..<end))
        guard count > 0 else { return false }
        (next, scanned, last) = (next + count, next + count, samples[next + count - 1].milliseconds)
        return true
    }

    /// What is quiet now; where that has changed, what was passed over is looked at again.
    mutating func take(_ quiet: QuietBand) {
        // Mostly it is what it was, and reckoning in tenths takes longer than all the rest.
        guard !(asked?.permitsSame(as: quiet) ?? false) else { return }
        asked = quiet
        let new = ScanBand(quiet).within(level)
        guard new != band else { return }
        band = new
        scanned = next
    }

    /// The sample that the engine has to be told. The engine knows all before it.
    mutating func take() -> RecordedPower {
        let sample = samples[scanned]
        (next, scanned, last) = (scanned + 1, scanned + 1, sample.milliseconds)
        return sample
    }

    /// - Parameter time: when it was heard of otherwise.
    mutating func appear(at time: Int64) {
        isPresent = true
        (band, asked) = (.nothing, nil)
        last = max(last, time)
    }

    /// Nothing is quiet of a plug that is not there.
    mutating func lose() {
        isPresent = false
        (band, asked) = (.nothing, nil)
        scanned = next
    }

    /// The next samples, and from them how often it measured. The engine knows all of those at hand.
    mutating func refill() throws(HistoryError) {
        guard let (piece, pace) = try recorded.piece() else {
            hasEnded = true
            return
        }
        self.pace = pace
        covered.take(piece, pace)
        energy?.count(piece)
        // Of many plugs beside each other only what somebody reads is kept: the processor's cache is small.
        samples = [RecordedPower](capacity: piece.count) { samples in
            for sample in piece {
                samples.append(RecordedPower(milliseconds: sample.milliseconds, deciwatts: sample.deciwatts))
            }
        }
        (next, scanned, hasSamples) = (0, 0, true)
    }

    /// What of the span was recorded.
    var coverage: PlugCoverage? {
        guard hasSamples || !isJournalled else { return nil }
        var coverage = covered
        coverage.damaged = recorded.damaged
        return coverage
    }
}

/// A quiet band as samples have their values: whole numbers.
struct ScanBand: Hashable {
    /// Tenths of a watt.
    var low: Int32
    /// How far above it the highest is.
    var width: UInt32
    /// Milliseconds since 1970, included.
    var until: Int64
    /// Milliseconds that two samples may be apart.
    var gap: Int64

    static let nothing = ScanBand(low: 0, width: 0, until: .min, gap: -1)

    /// Whatever is measured without a hole.
    static func all(gap: Int64) -> ScanBand { ScanBand(low: .min, high: .max, until: .max, gap: gap) }

    /// The lowest and the highest of the band's values.
    private init(low: Int32, high: Int32, until: Int64, gap: Int64) {
        self.init(low: low, width: UInt32(bitPattern: high &- low), until: until, gap: gap)
    }

    private init(low: Int32, width: UInt32, until: Int64, gap: Int64) {
        (self.low, self.width, self.until, self.gap) = (low, width, until, gap)
    }

    init(_ band: QuietBand) {
        // In virtual time a reading is heard in the moment in which it was taken.
        guard band.low <= band.high, band.lag <= 0, let low = Self.deciwatts(band.low, .up),
            let high = Self.deciwatts(band.high, .down), low <= high
        else {
            self = .nothing
            return
        }
        self.init(
            low: low, high: high, until: Self.floor(band.until.nanoseconds), gap: Self.floor(band.gap))
    }

    /// The index of the first sample from there on that is not quiet.
    ///
    /// - Parameter before: the time of the one before.
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

    /// The part on the same side of the level at which the plug is taken to be switched.
    func within(_ level: OnLevel?) -> ScanBand {
        guard let level, gap >= 0 else { return self }
        let high = low &+ Int32(bitPattern: width)
        let (least, most) = level.isOn ? (max(low, level.off), high) : (low, min(high, level.on - 1))
        return least <= most ? ScanBand(low: least, high: most, until: until, gap: gap) : .nothing
    }

    /// The nearest tenth whose watts are inside; nil where there is none.
    private static func deciwatts(_ watts: Double, _ rule: FloatingPointRoundingRule) -> Int32? {
        guard !watts.isNaN else { return nil }
        let rounded = (watts * 10).rounded(rule)
        guard rounded > Double(Int32.min) else { return rule == .up ? .min : nil }
        guard rounded < Double(Int32.max) else { return rule == .down ? .max : nil }
        var tenths = Int32(rounded)
        // Ten times a number of tenths is not always whole.
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
    /// Wherever the last reading was.
    fileprivate func permitsSame(as other: QuietBand) -> Bool {
        low == other.low && high == other.high && until == other.until && gap == other.gap && lag == other.lag
    }
}
