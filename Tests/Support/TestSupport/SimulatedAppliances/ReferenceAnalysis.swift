/// The true cycles of a recording, found from the complete recording with a different method than the detector's.
public enum ReferenceAnalysis {
    /// A sample of a recording.
    public typealias Point = PowerScript.Point

    /// Returns the programmes, or the runs of a compressor if there is no programme. Times are in milliseconds.
    public static func cycles(in points: [Point]) -> [ClosedRange<Int64>] {
        let programmes = programmes(in: points)
        return programmes.isEmpty ? compressorRuns(in: points) : programmes
    }

    /// Returns activity of at least 10 W for at least 20 min, with gaps of at most 20 min and a peak of at least 300 W.
    public static func programmes(in points: [Point]) -> [ClosedRange<Int64>] {
        stretches(points.filter { $0.deciwatts >= 100 }, gap: 1_200_000)
            .filter { $0.peak >= 3_000 && $0.end - $0.start >= 1_200_000 }.map { $0.start...$0.end }
    }

    /// Returns the runs of a compressor: stretches with at least half of the median power, at least three minutes long,
    /// with gaps of at most a minute. The median is that of the samples of at least 30 W, and must be at most 500 W.
    /// There must be four or more runs. For the lengths of the runs, and also for those of the pauses, the upper
    /// quartile must be at most 1.5 times the lower quartile. Otherwise the result is empty.
    public static func compressorRuns(in points: [Point]) -> [ClosedRange<Int64>] {
        let levels = points.map(\.deciwatts).filter { $0 >= 300 }.sorted()
        guard !levels.isEmpty, levels[levels.count / 2] <= 5_000 else { return [] }
        let half = levels[levels.count / 2] / 2
        let runs = stretches(points.filter { $0.deciwatts >= half }, gap: 60_000)
            .filter { $0.end - $0.start >= 180_000 }
        let rests = zip(runs, runs.dropFirst()).map { $1.start - $0.end }
        guard runs.count >= 4, areRegular(runs.map { $0.end - $0.start }), areRegular(rests) else { return [] }
        return runs.map { $0.start...$0.end }
    }

    private static func areRegular(_ lengths: [Int64]) -> Bool {
        let sorted = lengths.sorted()
        return sorted[sorted.count * 3 / 4] * 2 <= sorted[sorted.count / 4] * 3
    }

    private typealias Stretch = (start: Int64, end: Int64, peak: Int32)

    private static func stretches(_ active: [Point], gap: Int64) -> [Stretch] {
        active.reduce(into: []) { stretches, point in
            if let last = stretches.last, point.milliseconds - last.end <= gap {
                stretches[stretches.count - 1] = (last.start, point.milliseconds, max(last.peak, point.deciwatts))
            } else {
                stretches.append((point.milliseconds, point.milliseconds, point.deciwatts))
            }
        }
    }
}
