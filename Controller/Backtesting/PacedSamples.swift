import Metering
import PowerHistory

/// Splits a plug's recorded samples where the pace changes. The pace is the usual time between two samples. The pace of
/// a piece applies to the time before each of its samples.
///
/// If at least six of eight consecutive distances in time between samples are about equal, they define a new pace,
/// which applies from the first of these distances on. A single long distance is a gap, which is judged by the previous
/// pace.
struct PacedSamples: Sendable {
    /// A new pace is defined by at least `equal` distances of about the same length among the next `run` distances. The
    /// other distances are gaps.
    private static let equal = 6
    private static let run = 8
    /// The number of distances whose median is used as the pace at the beginning, and later if the distances have no
    /// common pace.
    private static let measured = 63

    private var cursor: SampleCursor
    /// The samples that were read. Those before ``next`` were returned.
    private var samples: [Sample] = []
    private var next = 0
    private var hasEnded = false
    private var isDone = false
    /// The time of the last sample before ``next``, and the two distances before it; nil before the first samples.
    private var last: Int64?
    private var distances: (older: Int64, newer: Int64)?
    private var usual: Int64?
    /// The number of distances since the last read, and the number of those that are about the usual one.
    private var counted = (all: 0, usual: 0)

    init(_ cursor: SampleCursor) { self.cursor = cursor }

    var damaged: Int { cursor.damaged }

    /// Returns the next samples; nil after the last piece. The last piece is empty, and its pace applies to the time
    /// after all samples.
    mutating func piece() throws(HistoryError) -> (samples: ArraySlice<Sample>, pace: SamplePace)? {
        while !hasEnded, samples.count - next <= Self.run { try read() }
        guard next < samples.count else {
            guard !isDone, last != nil else { return nil }
            isDone = true
            return ([], SamplePace(usual: recent(usual ?? 1000)))
        }
        // The pace of the last samples depends on the samples that follow.
        let limit = hasEnded ? samples.count : samples.count - Self.run
        let first = next
        let pace = pace(at: next)
        repeat {
            advance()
        } while next < limit && self.pace(at: next) == pace
        return (samples[first..<next], SamplePace(usual: pace))
    }

    private mutating func read() throws(HistoryError) {
        guard let piece = try cursor.piece() else { return hasEnded = true }
        samples.removeSubrange(..<next)
        next = 0
        samples += piece
        let isPaceless = counted.all > Self.measured && counted.usual < counted.all / 4
        if usual == nil || isPaceless { usual = Self.median(samples.prefix(Self.measured + 1)) ?? usual }
        counted = (0, 0)
    }

    private mutating func advance() {
        let time = samples[next].milliseconds
        if let last {
            let distance = time &- last
            distances = (distances?.newer ?? distance, distance)
        }
        last = time
        next += 1
    }

    /// Returns the usual distance at the time before a sample.
    private mutating func pace(at index: Int) -> Int64 {
        guard let usual, let last else { return self.usual ?? 1000 }
        let distance = samples[index].milliseconds &- last
        counted.all += 1
        if Self.isSame(distance, usual) {
            counted.usual += 1
            return usual
        }
        guard let new = newPace(at: index, distance) else { return recent(usual) }
        self.usual = new
        return new
    }

    /// Returns the median of the distances after a sample. Nil if fewer than ``equal`` distances, including the one
    /// before the sample, are about as long as `distance`.
    private func newPace(at index: Int, _ distance: Int64) -> Int64? {
        let run = samples[index..<min(index + Self.run, samples.count)]
        let same = zip(run, run.dropFirst()).count { Self.isSame($1.milliseconds &- $0.milliseconds, distance) }
        return same + 1 >= Self.equal ? Self.median(run) : nil
    }

    /// Returns the greater of the last two distances if both are at most a fifth of the usual one, otherwise `usual`.
    private func recent(_ usual: Int64) -> Int64 {
        guard let distances else { return usual }
        let greatest = max(distances.older, distances.newer)
        return greatest <= usual / 5 ? greatest : usual
    }

    private static func isSame(_ one: Int64, _ other: Int64) -> Bool {
        2 &* one <= 3 &* other && 2 &* other <= 3 &* one
    }

    private static func median(_ samples: ArraySlice<Sample>) -> Int64? {
        let steps = zip(samples, samples.dropFirst()).map { $1.milliseconds &- $0.milliseconds }.sorted()
        return steps.isEmpty ? nil : max(1, min(steps[steps.count / 2], 86_400_000))
    }
}
