public import HouseCalendar
import Metering
public import Recordings

/// Places a recording on the wall clock. Each line of the recording becomes a sample, or is counted with the ``Reason``
/// for its omission.
///
/// A new segment begins where the time steps back. If segments overlap, the first one in the file wins: it owns its
/// span, except its pauses, and lines of later segments in that span are left out.
public struct PlacedRecording: Sendable {
    /// The reason why a line is not a sample.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        /// The line is empty.
        case empty
        /// The line names the columns.
        case header
        /// The line does not consist of a time and a number.
        case unreadable
        /// The next line of the segment has the same time; the last one wins.
        case sameTime
        /// The local time does not exist: the clock was set forward across it, for daylight saving.
        case noSuchTime
        /// An earlier segment of the file covers this time.
        case earlierSegment
        /// The history already has samples of this time.
        case known
        /// The history has deleted samples of this age.
        case forgotten
    }

    /// The lines that are left out for one reason.
    public struct Tally: Hashable, Sendable {
        /// The number of lines.
        public var lines = 0
        /// The lowest line number, counted from 1.
        public var first = Int.max
    }

    /// A line whose time is earlier than that of the previous line.
    public struct StepBack: Hashable, Sendable {
        /// The line that begins the new segment, counted from 1.
        public var line: Int
        /// The time of the previous line, in milliseconds since 1970.
        public var from: Int64
        /// The time of this line, in milliseconds since 1970.
        public var to: Int64
    }

    /// A line with a time and a power.
    public struct Sample: Hashable, Sendable {
        /// The line number, counted from 1.
        public var line: Int
        /// Milliseconds since 1970, UTC.
        public var milliseconds: Int64
        /// The active power in deciwatts.
        public var deciwatts: Int32
    }

    /// The samples in ascending order of time; no two have the same time.
    public private(set) var samples: [Sample] = []
    /// The lines that are not samples, by reason.
    public private(set) var leftOut: [Reason: Tally] = [:]
    /// The steps back in time, in the order of lines.
    public private(set) var stepsBack: [StepBack] = []
    /// The number of lines of the file: the number of ``samples`` plus the lines of all tallies in ``leftOut``.
    public let lines: Int
    /// The times that other recordings or the history own. A chunk does not reach across such a time.
    private(set) var taken = CoveredTimes()

    /// The median distance of consecutive samples in milliseconds; nil with fewer than two samples.
    public var pace: Int64? {
        let gaps = zip(samples, samples.dropFirst()).map { $1.milliseconds - $0.milliseconds }.sorted()
        return gaps.isEmpty ? nil : gaps[gaps.count / 2]
    }

    /// The slowest pace in milliseconds (one hour) at which samples are interpolated.
    public static let slowestPace: Int64 = 3_600_000

    /// The maximum number of samples after interpolation. It stops a long recording with a slow pace from filling the
    /// memory.
    private static let mostFilled: Int64 = 10_000_000

    /// Returns the samples to store. Samples that are further apart than ``RollUpEntry/longestStep`` have no energy
    /// between them. If the pace is slower than `longestStep`, this method interpolates linearly, with one sample per
    /// `longestStep`.
    ///
    /// - Returns: The recording's own samples if ``isFilled`` is false.
    func filled() -> [Sample] {
        let step = RollUpEntry.longestStep
        guard isFilled, let pace else { return samples }
        var filled: [Sample] = []
        for sample in samples {
            if let last = filled.last {
                let gap = sample.milliseconds - last.milliseconds
                let isTogether = taken.countBefore(last.milliseconds) == taken.countBefore(sample.milliseconds)
                // A line that is late by up to half the pace still follows its predecessor without a gap.
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

    /// True if ``filled()`` interpolates samples: the pace is slower than ``RollUpEntry/longestStep`` and not slower
    /// than ``slowestPace``, and the result has at most `mostFilled` samples.
    public var isFilled: Bool {
        guard let pace, pace > RollUpEntry.longestStep, pace <= Self.slowestPace else { return false }
        return Int64(samples.count) * (pace / RollUpEntry.longestStep + 1) <= Self.mostFilled
    }

    /// True if the pace is slower than ``RollUpEntry/longestStep`` and ``filled()`` does not interpolate. Most of the
    /// time between the samples then has no energy.
    public var isTooSlow: Bool { pace.map { $0 > RollUpEntry.longestStep && !isFilled } ?? false }

    /// The longest gap within one piece, in milliseconds. Samples of another recording may fill a longer gap.
    static let pause: Int64 = 600_000

    /// Places a recording.
    ///
    /// - Parameters:
    ///   - start: The beginning of a recording without dates, in milliseconds since 1970. A recording with dates has
    ///     local times.
    ///   - zone: The time zone of the local times.
    /// - Returns: nil for a recording without dates if `start` is nil.
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

    /// Removes the samples at times that other recordings or the history own.
    ///
    /// - Parameters:
    ///   - spans: Milliseconds since 1970, sorted by their beginnings. They may overlap.
    ///   - reason: The reason that the removed lines get.
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

    /// The time of the first and the last sample, in milliseconds since 1970; nil without samples.
    public var span: ClosedRange<Int64>? {
        guard let first = samples.first, let last = samples.last else { return nil }
        return first.milliseconds...last.milliseconds
    }

    /// Splits samples at their pauses and returns the span of each piece.
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

/// A set of times, stored as disjoint spans.
struct CoveredTimes: Sendable {
    /// Sorted and disjoint.
    private(set) var spans: [ClosedRange<Int64>] = []

    init() {}

    /// Creates the union of spans.
    ///
    /// - Parameter spans: Sorted by their beginnings.
    init(_ spans: [ClosedRange<Int64>]) { formUnion(spans) }

    func contains(_ time: Int64) -> Bool {
        let next = countBefore(time)
        return next < spans.count && spans[next].contains(time)
    }

    /// The number of spans that end before that time.
    func countBefore(_ time: Int64) -> Int {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].upperBound < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds spans.
    ///
    /// - Parameter others: Sorted by their beginnings.
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

    /// Removes and returns the span that begins first.
    private static func first(
        _ own: inout ArraySlice<ClosedRange<Int64>>, _ other: inout ArraySlice<ClosedRange<Int64>>
    ) -> ClosedRange<Int64>? {
        guard let mine = own.first else { return other.popFirst() }
        guard let theirs = other.first, theirs.lowerBound < mine.lowerBound else { return own.popFirst() }
        return other.popFirst()
    }
}
