import Charting
import Foundation
import Metering
import PowerHistory

/// Measures queries and charts of a year of one plug and a month of a second plug, in the history and in a plain table.
struct YearOfAPlug {
    private static let day: Int64 = 86_400_000
    private static let origin: Int64 = 1_764_547_200_000
    private let model: [Sample]
    private let days: Int

    /// - Parameters:
    ///   - model: the samples of a day, which is repeated.
    ///   - days: the number of days of the year; at least 30.
    init(_ model: [Sample], days: Int) {
        self.model = model
        self.days = days
    }

    func figures() throws -> [Figure] {
        let folder = try ScratchFolder()
        try fill(folder.path)
        func opened() throws -> PowerHistory { try PowerHistory(folder.path, role: .reader) }
        let plain = folder.path + "/plain.sqlite"
        let (year, last) = (Self.origin + Int64(days) * Self.day, Self.origin + Int64(days - 10) * Self.day)
        let yearTime = try middle {
            let hours = try opened().summaries(of: RecordedPlugs.id(0), step: .hour, from: Self.origin, to: year)
            guard hours.count == days * 24 else { throw BenchmarkError("\(hours.count) hours of a year were read") }
        }
        let plainYear = try secondsTaken { try read(plain, Self.origin, year, expecting: days * model.count) }
        let dayTime = try middle {
            guard try read(opened(), last).count == model.count else { throw BenchmarkError("the day is incomplete") }
        }
        let plainDay = try middle { try read(plain, last, last + Self.day - 1, expecting: model.count) }
        let (hourly, plainHourly) = try hourlyMeans(opened, plain)
        return [
            Figure(
                "a year of one plug, first call", yearTime * 1000, "ms",
                against: .init(name: "SELECT", value: plainYear * 1000), .ratioAtMost(1.0 / 20)),
            Figure(
                "a day of one plug, raw, first call", dayTime * 1000, "ms",
                against: .init(name: "SELECT", value: plainDay * 1000), .ratioAtMost(1.0 / 3)),
            Figure(
                "hourly mean and maximum, 2 x 30 days, raw", hourly * 1000, "ms",
                against: .init(name: "GROUP BY", value: plainHourly * 1000), .ratioAtMost(1.0 / 10)),
        ] + (try rendering(opened, last))
    }

    private func fill(_ folder: String) throws {
        let recorded = RecordedPlugs(history: try PowerHistory(folder, role: .recorder))
        let plain = try PlainTable(folder + "/plain.sqlite")
        for (plug, days) in [(0, days), (1, 30)] {
            for first in stride(from: 0, to: days, by: 16) {
                let samples = (first..<min(first + 16, days)).flatMap { day in
                    model.map { sample in
                        var sample = sample
                        sample.milliseconds += Int64(day) * Self.day
                        return sample
                    }
                }
                let batches = recorded.batches(
                    of: samples, plug: RecordedPlugs.id(plug), origin: Self.origin, whole: true)
                try recorded.store(batches)
                try plain.run("BEGIN")
                for var sample in samples {
                    sample.milliseconds += Self.origin
                    sample.decivolts = nil
                    sample.milliamperes = nil
                    try plain.add(sample, of: Int64(plug))
                }
                try plain.run("COMMIT")
            }
        }
    }

    private func hourlyMeans(_ opened: () throws -> PowerHistory, _ plain: String) throws -> (Double, Double) {
        let end = Self.origin + 30 * Self.day - 1
        let own = try middle {
            let history = try opened()
            for plug in 0..<2 {
                let hours = try history.summariesOfSamples(
                    of: RecordedPlugs.id(plug), step: .hour, from: Self.origin, to: end)
                guard hours.count == 720 else { throw BenchmarkError("\(hours.count) of 720 hours were read") }
            }
        }
        let reference = try secondsTaken {
            var hours = 0
            try PlainTable(plain).rows(
                """
                SELECT plug, avg(watts), max(watts) FROM sample WHERE plug IN (0, 1) AND time BETWEEN \(Self.origin) AND \(end)
                GROUP BY plug, time / 3600000
                """
            ) { _, _ in hours += 1 }
            guard hours == 1440 else { throw BenchmarkError("\(hours) of 1440 hours were read from the plain table") }
        }
        return (own, reference)
    }

    private func rendering(_ opened: () throws -> PowerHistory, _ day: Int64) throws -> [Figure] {
        let reading = try middle {
            guard try read(opened(), day).count == model.count else { throw BenchmarkError("the day is incomplete") }
        }
        let points = try read(opened(), day)
        let reference = Figure.Reference(name: "reading them", value: reading * 1000)
        var size = 0
        let svg = try middle {
            let chart = Chart(series: [Series(name: "Plug", unit: .watts, points: points, gapLimit: 30)])
            size += chart.svg(width: 960, height: 360).utf8.count
        }
        let text = try middle {
            let chart = Chart(series: [Series(name: "Plug", unit: .watts, points: points, gapLimit: 30)])
            size += chart.text(columns: 120, rows: 30, glyphs: .braille).count
        }
        guard size > 0 else { throw BenchmarkError("nothing was drawn") }
        return [
            Figure("86,400 samples to SVG", svg * 1000, "ms", against: reference, .ratioAtMost(1)),
            Figure("86,400 samples to text", text * 1000, "ms", against: reference, .ratioAtMost(1)),
        ]
    }

    private func read(_ history: PowerHistory, _ day: Int64) throws -> [ChartPoint] {
        var points: [ChartPoint] = []
        try history.samples(of: RecordedPlugs.id(0), from: day, to: day + Self.day - 1) { time, sample in
            points.append(ChartPoint(time: Double(time) / 1000, value: sample.activePower))
        }
        return points
    }

    private func read(_ plain: String, _ from: Int64, _ to: Int64, expecting count: Int) throws {
        var points: [ChartPoint] = []
        let sql = "SELECT time, watts FROM sample WHERE plug = 0 AND time BETWEEN \(from) AND \(to) ORDER BY time"
        try PlainTable(plain).rows(sql) { points.append(ChartPoint(time: Double($0) / 1000, value: $1)) }
        guard points.count == count else { throw BenchmarkError("\(points.count) of \(count) rows were read") }
    }

    /// Returns the median duration of five calls in seconds. A query opens the file again in each call, so that every
    /// call is a first call.
    private func middle(_ work: () throws -> Void) throws -> Double {
        try (0..<5).map { _ in try secondsTaken(work) }.median
    }
}
