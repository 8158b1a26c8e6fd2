import Foundation
import Metering
import PlugModel
import PowerHistory

/// Writes a year of history for many plugs, with one sample per 30 s, because one per second would take longer to
/// write. The roll-ups have the same size as those of a daemon that ran for a year.
enum YearOfAHouse {
    private static let day: Int64 = 86_400_000
    /// The number of days that are stored in one step.
    private static let daysAtOnce: Int64 = 16

    /// - Parameters:
    ///   - directory: the folder of the history.
    ///   - days: the number of days: 365, or fewer in the short form.
    ///   - plugs: the ids of the plugs.
    static func make(in directory: String, days: Int64, plugs: [String]) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let recorded = RecordedPlugs(history: try PowerHistory(directory, role: .recorder))
        let models = try MeasuredSeries.models().map { model in
            model.samples.enumerated().compactMap { $0.offset % 30 == 0 ? $0.element : nil }
        }
        for (number, text) in plugs.enumerated() {
            guard let id = PlugID(rawValue: text) else { throw BenchmarkError("\(text) is not a plug id") }
            let model = models[number % models.count]
            for first in stride(from: 0, to: days, by: Int(daysAtOnce)) {
                let samples = (first..<min(first + daysAtOnce, days)).flatMap { day in
                    model.map { sample in
                        var sample = sample
                        sample.milliseconds += day * Self.day
                        return sample
                    }
                }
                let batches = recorded.batches(of: samples, plug: id, origin: now - (days + 1) * day, whole: true)
                try recorded.store(batches)
            }
        }
    }
}
