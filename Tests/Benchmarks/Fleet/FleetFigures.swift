import Foundation
import HistoryDelivery
import LinuxSystem
import Metering
import PlugModel
import PostgreSQL
import PowerHistory
import ProtocolCore

/// Measures the delivery of history to PostgreSQL.
@Sendable
func fleetFigures(_ setting: Setting) async throws -> [Figure] {
    try await DeliveredHistory(plugs: setting.times(20, few: 2)).figures(rounds: setting.times(3, few: 1))
}

/// Sends a day of history of some plugs to a PostgreSQL database with existing tables. The reference is psql, which
/// copies the same rows of samples into a table with the same columns, key and partitions.
private struct DeliveredHistory {
    /// The number of plugs.
    let plugs: Int

    /// The start of the day in UTC, in milliseconds. The day is within one month, so that all samples are in one
    /// partition.
    private static let midnight: Int64 = 1_793_577_600_000

    func figures(rounds: Int) async throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let history = try PowerHistory(folder.path + "/history", role: .recorder)
        let recorded = RecordedPlugs(history: history)
        let day = try MeasuredSeries.models()
        for plug in 0..<plugs {
            let samples = day[plug % day.count].samples
            for batch in recorded.batches(of: samples, plug: RecordedPlugs.id(plug), origin: Self.midnight, whole: true)
            {
                try history.record(batch)
            }
        }
        let server = try PostgreSQLServer()
        defer { server.stop() }
        var (ours, copied, samples) = ([Double](), [Double](), 0)
        for round in 0..<rounds {
            let seconds = try await delivered(history, to: server, state: folder.path + "/state\(round)")
            samples = try server.number("SELECT count(*) FROM smartplug.samples")
            guard samples > 0 else { throw BenchmarkError("the database has no samples") }
            ours.append(Double(samples) / seconds)
            copied.append(Double(samples) / (try server.copiedSamples(into: folder.path + "/samples")))
        }
        let (rate, reference) = (ours.median, copied.median)
        return [
            Figure(
                "samples to PostgreSQL per second, with chunks and roll-ups, of \(samples)", rate, "",
                against: .init(name: "psql COPY", value: reference), .ratioAtLeast(0.5)),
            Figure("the same, absolute", rate, "", .within(200_000...1e9)),
        ]
    }

    /// Returns the seconds from the first connection to the last commit.
    private func delivered(_ history: PowerHistory, to server: PostgreSQLServer, state: String) async throws -> Double {
        try server.makeEmpty()
        let settings = try HistorySettings(
            Array(
                "[house]\nname = \"benchmark\"\n[postgresql]\nhost = \"\(server.folder)\"\nport = \(server.port)\n".utf8
            ),
            file: "history.toml", home: "/")
        let (said, words) = AsyncStream.makeStream(of: String.self)
        let delivery = try HistoryDelivery(settings, of: history, state: state, timeZone: "UTC") { words.yield($0) }
        let began = BootClock.now
        let running = Task { await delivery.run() }
        for await text in said {
            if text.hasSuffix("has the complete history") { break }
            guard !text.contains("does not"), !text.contains("rejects") else { throw BenchmarkError(text) }
        }
        let seconds = Double((BootClock.now - began).wholeNanoseconds) / 1e9
        running.cancel()
        await running.value
        return seconds
    }
}
