import Charting
import Foundation
import Metering
import PlugModel
import PowerHistory

/// Measures the history against a plain table of SQLite.
@Sendable
func historyFigures(_ setting: Setting) async throws -> [Figure] {
    let recordings = try MeasuredSeries.recordings(in: setting.traces)
    let models = try MeasuredSeries.models()
    return try (recordings.isEmpty ? [] : sizes("recordings, W", recordings.map(\.samples), limit: 2))
        + sizes("noisy models, W V A", models.map(\.samples), limit: 3.5)
        + ingest(models.map(\.samples), plugs: setting.times(1000, few: 50))
        + YearOfAPlug(models[0].samples, days: setting.times(365, few: 40)).figures()
}

/// Measures bytes per sample on disk. Each series is stored as the samples of one plug, in the same batches as by a
/// daemon.
private func sizes(_ name: String, _ series: [[Sample]], limit: Double) throws -> [Figure] {
    let folder = try ScratchFolder()
    let count = Double(series.reduce(0) { $0 + $1.count })
    let plain = try PlainTable(folder.path + "/plain.sqlite", hasVoltage: series[0][0].decivolts != nil)
    do {
        let plugs = RecordedPlugs(history: try PowerHistory(folder.path, role: .recorder))
        for (index, samples) in series.enumerated() {
            try plugs.store(plugs.batches(of: samples, plug: RecordedPlugs.id(index), origin: 1_790_000_000_000))
            // The table's key allows one sample per time, so samples with a repeated time are skipped.
            try plain.run("BEGIN")
            var last = Int64.min
            for sample in samples where sample.milliseconds > last {
                try plain.add(sample, of: Int64(index))
                last = sample.milliseconds
            }
            try plain.run("COMMIT")
        }
    }
    let reference = Figure.Reference(name: "plain table", value: try plain.size() / count)
    let size = try historySize(folder.path) / count
    return [
        Figure("on disk, a sample, \(name)", size, "B", .atMost(limit)),
        Figure("on disk, a sample, \(name)", size, "B", against: reference, .ratioAtMost(1.0 / 8)),
    ]
}

/// Measures the processor time to store an hour of 1,000 plugs at one sample per second. The plain table gets one
/// transaction per second, and only for a minute, because each transaction costs the same.
private func ingest(_ models: [[Sample]], plugs: Int) throws -> [Figure] {
    let folder = try ScratchFolder()
    let hour = models.map { Array($0[30_000..<33_600]) }
    let plain = try PlainTable(folder.path + "/plain.sqlite", hasVoltage: true)
    let seconds = 60
    let plainTime = try processorSeconds {
        for second in 0..<seconds {
            try plain.run("BEGIN")
            for plug in 0..<plugs { try plain.add(hour[plug % hour.count][second], of: Int64(plug)) }
            try plain.run("COMMIT")
        }
    }
    let recorded = RecordedPlugs(history: try PowerHistory(folder.path, role: .recorder))
    let batches = (0..<plugs).map { plug in
        recorded.batches(of: hour[plug % hour.count], plug: RecordedPlugs.id(plug), origin: 1_790_000_000_000)
    }
    var taken = 0.0
    let ownTime = try processorSeconds {
        taken = try secondsTaken {
            // Stores the first batch of each plug, then the second batch of each plug, and so on.
            for turn in batches[0].indices {
                for batches in batches where turn < batches.count { try recorded.history.record(batches[turn]) }
            }
        }
    }
    let samples = Double(plugs * 3600)
    let perSample = ownTime / samples * 1e6
    let reference = Figure.Reference(name: "plain table", value: plainTime / Double(plugs * seconds) * 1e6)
    return [
        Figure("ingest, processor time a sample", perSample, "µs", against: reference, .ratioAtMost(1.0 / 4)),
        // The time to store one second of 10,000 plugs, including disk waits. The limit is one second.
        Figure("10,000 plugs, time to store a second", taken / samples * 10_000, "s", .atMost(1)),
    ]
}
