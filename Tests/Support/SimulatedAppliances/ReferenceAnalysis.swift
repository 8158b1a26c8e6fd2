/// The true cycles of a recording, found with the whole of it at hand and in another way than the detector's.
public enum ReferenceAnalysis {
    public typealias Point = PowerScript.Point

    /// Programmes, where there are any; otherwise the runs of a compressor, where there is one.
    public static func cycles(in points: [Point]) -> [ClosedRange<Int64>] {
        let programmes = programmes(in: points)
        return programmes.isEmpty ? compressorRuns(in: points) : programmes
    }

    /// Activity of at least 10 W with gaps of at most 20 min, a peak of at least 300 W, at least 20 min long.
    public static func programmes(in points: [Point]) -> [ClosedRange<Int64>] {
        stretches(points.filter { $0.deciwatts >= 100 }, gap: 1_200_000)
            .filter { $0.peak >= 3_000 && $0.end - $0.start >= 1_200_000 }.map { $0.start...$0.end }
    }

    /// Stretches of at least half of what the appliance mostly draws when it draws more than 30 W, with gaps of at most a
    /// minute, at least three minutes long, if there are four or more, the middle half of them and of the rests between
    /// them are of about one length, and what they draw is not more than a compressor does (500 W).
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
