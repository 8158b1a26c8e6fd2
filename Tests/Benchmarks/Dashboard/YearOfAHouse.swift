import Foundation
import Metering
import PlugModel
import PowerHistory

/// A year of many plugs, a sample every half a minute, as far as a daemon's history has it that ran all the time: what sums it up
/// has a sample more or less, and is as large.
enum YearOfAHouse {
    private static let day: Int64 = 86_400_000
    /// As many as are stored at a time.
    private static let daysAtOnce: Int64 = 16

    /// - Parameters:
    ///   - directory: of the history.
    ///   - days: how many a year has: fewer in the short form.
    ///   - plugs: their ids.
    static func make(in directory: String, days: Int64, plugs: [String]) throws {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let recorded = RecordedPlugs(history: try PowerHistory(directory, role: .recorder))
        let models = try MeasuredSeries.models().map { model in
            model.samples.enumerated().compactMap { $0.offset % 30 == 0 ? $0.element : nil }
        }
        for (number, text) in plugs.enumerated() {
            guard let id = PlugID(rawValue: text) else { throw Complaint("\(text) is not the id of a plug") }
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
