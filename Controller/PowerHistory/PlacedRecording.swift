public import LocalCalendar
import Metering
public import Recordings

/// A recording on the time of the world, with an account of each of its lines: it is a sample, or there is a reason why not.
///
/// Where the time steps back, a segment ends and another begins. Of segments that overlap the one that was told first has the
/// time that it reaches over, up to its pauses; what a later one tells of that is left out.
public struct PlacedRecording: Sendable {
    /// Why a line is no sample.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        case empty
        /// It names the columns.
        case header
        /// It is not a time and a number.
        case unreadable
        /// The next line of its segment has the same time, and the last counts.
        case sameTime
        /// The clock on the wall was set forward across it.
        case noSuchTime
        case earlierSegment
        /// The history has samples of that time.
        case known
        /// The history does not keep samples of this plug that are so old.
        case forgotten
    }

    /// Lines that are left out for one reason.
    public struct Tally: Hashable, Sendable {
        public var lines = 0
        /// The least of their numbers, counted from 1.
        public var first = Int.max
    }

    public struct StepBack: Hashable, Sendable {
        /// With which the new segment begins, counted from 1.
        public var line: Int
        /// The time of the line before, milliseconds since 1970.
        public var from: Int64
        /// Its own, which is earlier.
        public var to: Int64
    }

    public struct Sample: Hashable, Sendable {
        /// That tells it, counted from 1.
        public var line: Int
        /// Since 1970, UTC.
        public var milliseconds: Int64
        public var deciwatts: Int32
    }

    /// Each later than the one before.
    public private(set) var samples: [Sample] = []
    public private(set) var leftOut: [Reason: Tally] = [:]
    /// In the order of lines.
    public private(set) var stepsBack: [StepBack] = []
    /// Of the file: as many as ``samples`` and all that are ``leftOut``.
    public let lines: Int
    /// Times that others have: what lies on either side of one does not belong together.
    private(set) var taken = CoveredTimes()

    /// Half of the lines are at most this far apart, in milliseconds; nil without two of them.
    public var pace: Int64? {
        let gaps = zip(samples, samples.dropFirst()).map { $1.milliseconds - $0.milliseconds }.sorted()
        return gaps.isEmpty ? nil : gaps[gaps.count / 2]
    }

    /// Lines that are further apart than an hour say nothing of the time between them.
    public static let slowestPace: Int64 = 3_600_000

    /// Keeps a long recording of a slow pace from filling the memory.
    private static let mostFilled: Int64 = 10_000_000

    /// Samples that are further apart than ``RollUpEntry/longestStep`` have no energy between them. A recording with a slower pace gets
    /// samples between its own, on a straight line, as far apart as that.
    ///
    /// - Returns: the samples to store; the recording's own if its pace is fast enough, or too slow.
    func filled() -> [Sample] {
        let step = RollUpEntry.longestStep
        guard isFilled, let pace else { return samples }
        var filled: [Sample] = []
        for sample in samples {
            if let last = filled.last {
                let gap = sample.milliseconds - last.milliseconds
                let isTogether = taken.countBefore(last.milliseconds) == taken.countBefore(sample.milliseconds)
                // A line that is late by half the pace is still the next one.
                if gap > step, gap <= pace + pace / 2, isTogether {
                    let rise = Int64(sample.deciwatts) - Int64(last.deciwatts)
                    for offset in stride(from: step, to: gap, by: Int64.Stride(step)) {
                        let deciwatts = Int32(clamping: Int64(last.deciwatts) + rise * offset / gap)
                        filled.append(
                            Sample(line: last.line, milliseconds: last.milliseconds + offset, deciwatts: deciwatts))
                    }
                }
            }
            filled.append(sample)
        }
        return filled
    }

    /// Whether samples are stored between those of the recording.
    public var isFilled: Bool {
        guard let pace, pace > RollUpEntry.longestStep, pace <= Self.slowestPace else { return false }
        return Int64(samples.count) * (pace / RollUpEntry.longestStep + 1) <= Self.mostFilled
    }

    /// Whether the lines are so far apart that no energy follows from them.
    public var isTooSlow: Bool { pace.map { $0 > RollUpEntry.longestStep && !isFilled } ?? false }

    /// What lies further apart is two pieces, between which another recording has its place. Milliseconds.
    static let pause: Int64 = 600_000

    /// - Parameters:
    ///   - start: for a recording without dates, when it began: milliseconds since 1970. One with dates has local times.
    ///   - zone: of those.
    /// - Returns: nil for a recording without dates and no start.
    public init?(_ recorded: RecordedLines, start: Int64? = nil, zone: ZoneOffsets) {
        let midnight = recorded.day.map { Int64($0.number) * 86_400_000 }
        guard let origin = midnight ?? start else { return nil }
        lines = recorded.count
        if let first = recorded.firstEmpty {
            leftOut[.empty] = Tally(lines: recorded.empty, first: first)
        }
        if let header = recorded.header { leftOut[.header] = Tally(lines: 1, first: header) }
        if let first = recorded.firstFault?.line {
            leftOut[.unreadable] = Tally(lines: recorded.unreadable, first: first)
        }
        var clock = LocalTimeline(zone: zone)
        var covered = CoveredTimes()
        var segment = samples.endIndex
        var last: Int64?
        for line in recorded.lines {
            let told = origin + line.milliseconds
            guard let time = midnight == nil ? told : clock.universal(told) else {
                leaveOut(line.number, .noSuchTime)
                continue
            }
            if let before = last, time < before {
                stepsBack.append(StepBack(line: line.number, from: before, to: time))
                covered.formUnion(Self.pieces(of: samples[segment...]))
                segment = samples.endIndex
            }
            last = time
            add(Sample(line: line.number, milliseconds: time, deciwatts: line.deciwatts), from: segment, covered)
        }
        samples.sort { $0.milliseconds < $1.milliseconds }
    }

    private mutating func add(_ sample: Sample, from segment: Int, _ covered: CoveredTimes) {
        guard !covered.contains(sample.milliseconds) else { return leaveOut(sample.line, .earlierSegment) }
        if samples.endIndex > segment, let last = samples.last, last.milliseconds == sample.milliseconds {
            leaveOut(last.line, .sameTime)
            samples.removeLast()
        }
        samples.append(sample)
    }

    /// Takes out samples of times that others have.
    ///
    /// - Parameter spans: milliseconds since 1970, by their beginnings; they may overlap.
    public mutating func leaveOut(_ spans: [ClosedRange<Int64>], because reason: Reason) {
        let times = CoveredTimes(spans)
        var kept: [Sample] = []
        kept.reserveCapacity(samples.count)
        for sample in samples {
            if times.contains(sample.milliseconds) { leaveOut(sample.line, reason) } else { kept.append(sample) }
        }
        samples = kept
        taken.formUnion(times.spans)
    }

    private mutating func leaveOut(_ line: Int, _ reason: Reason) {
        leftOut[reason, default: Tally()].lines += 1
        leftOut[reason, default: Tally()].first = min(line, leftOut[reason, default: Tally()].first)
    }

    /// Milliseconds since 1970 of the first sample and the last; nil without any.
    public var span: ClosedRange<Int64>? {
        guard let first = samples.first, let last = samples.last else { return nil }
        return first.milliseconds...last.milliseconds
    }

    /// From pause to pause.
    private static func pieces(of samples: ArraySlice<Sample>) -> [ClosedRange<Int64>] {
        var pieces: [ClosedRange<Int64>] = []
        for sample in samples {
            if let last = pieces.last, sample.milliseconds - last.upperBound <= pause {
                pieces[pieces.count - 1] = last.lowerBound...sample.milliseconds
            } else {
                pieces.append(sample.milliseconds...sample.milliseconds)
            }
        }
        return pieces
    }
}

/// Times as few spans as they can be.
struct CoveredTimes: Sendable {
    /// In order, and apart from each other.
    private(set) var spans: [ClosedRange<Int64>] = []

    init() {}

    /// - Parameter spans: by their beginnings.
    init(_ spans: [ClosedRange<Int64>]) { formUnion(spans) }

    func contains(_ time: Int64) -> Bool {
        let next = countBefore(time)
        return next < spans.count && spans[next].contains(time)
    }

    /// How many end before that time.
    func countBefore(_ time: Int64) -> Int {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].upperBound < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// - Parameter others: by their beginnings.
    mutating func formUnion(_ others: [ClosedRange<Int64>]) {
        var union: [ClosedRange<Int64>] = []
        union.reserveCapacity(spans.count + others.count)
        var (own, other) = (spans[...], others[...])
        while let next = Self.first(&own, &other) {
            if let last = union.last, next.lowerBound <= last.upperBound {
                union[union.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
            } else {
                union.append(next)
            }
        }
        spans = union
    }

    /// Takes the one that begins first.
    private static func first(
        _ own: inout ArraySlice<ClosedRange<Int64>>, _ other: inout ArraySlice<ClosedRange<Int64>>
    ) -> ClosedRange<Int64>? {
        guard let mine = own.first else { return other.popFirst() }
        guard let theirs = other.first, theirs.lowerBound < mine.lowerBound else { return own.popFirst() }
        return other.popFirst()
    }
}
