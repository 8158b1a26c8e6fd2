import Backtesting
import Foundation
import HouseCalendar
import Metering
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel

/// Measures a backtest of 20 rules over the history of ten plugs at one sample per second.
struct MonthOfAHouse {
    private static let day: Int64 = 86_400_000
    private static let origin: Int64 = 1_790_000_000_000 / day * day
    private static let plugs = 10
    /// The limit of additional memory for 28 more days, in MB. The report lists the firings of these days, but does not
    /// keep their samples, which would take 400 MB.
    private static let growth = 16.0
    private let days: Int
    private var span: ClosedRange<Int64> { Self.origin...Self.origin + Int64(days) * Self.day - 1 }

    /// - Parameter days: the days of history of each plug; more than 2.
    init(days: Int) { self.days = days }

    func figures() throws -> [Figure] {
        let folder = try ScratchFolder()
        let history = try fill(folder.path)
        let house = PastHouse(history, zone: .utc)
        let rules = Self.rules
        // The short run comes first, because memory that a long run has allocated would be reused.
        let short = try peak {
            _ = try house.run(rules, over: span.lowerBound...span.lowerBound + 2 * Self.day)
        }
        let long = try peak { _ = try house.run(rules, over: span) }
        var times: (backtest: [Double], pass: [Double]) = ([], [])
        var firings = 0
        for _ in 0..<3 {
            times.pass.append(try secondsTaken { try pass(history) })
            times.backtest.append(
                try secondsTaken {
                    firings = try house.run(rules, over: span).counts.values.reduce(0) { $0 + $1.firings }
                })
        }
        guard firings > days else { throw BenchmarkError("\(firings) firings in \(days) days") }
        let samples = Double(days * Self.plugs) * 86_400
        return [
            Figure(
                "backtest, \(days) days x 10 plugs, 20 rules", times.backtest.median, "s",
                against: .init(name: "decoding and one pass", value: times.pass.median), .ratioAtMost(2)),
            Figure("the same, samples per second", samples / times.backtest.median / 1e6, "M/s"),
            Figure("the same, firings", Double(firings), ""),
            Figure("the same, peak memory", long, "MB", against: .init(name: "backtest of 2 days", value: short)),
            Figure("the same, peak memory above that of 2 days", max(0, long - short), "MB", .atMost(Self.growth)),
        ]
    }

    /// The minimum work, as a reference: decodes each sample and reads it once.
    private func pass(_ history: PowerHistory) throws {
        var above = 0
        for plug in 0..<Self.plugs {
            var cursor = try history.cursor(
                of: RecordedPlugs.id(plug), from: span.lowerBound, to: span.upperBound)
            while let samples = try cursor.piece() {
                for sample in samples where sample.activePower > 40 { above += 1 }
            }
        }
        guard above > 0 else { throw BenchmarkError("no sample is above 40 W") }
    }

    // MARK: The house

    private func fill(_ folder: String) throws -> PowerHistory {
        let history = try PowerHistory(folder, role: .recorder)
        let recorded = RecordedPlugs(history: history)
        let models = try MeasuredSeries.models().map(\.samples)
        for plug in 0..<Self.plugs {
            var names = HistoryBatch()
            names.names[RecordedPlugs.id(plug)] = Self.name(plug)
            try history.record(names)
            let model = models[plug % models.count]
            for first in stride(from: 0, to: days, by: 10) {
                let samples = (first..<min(first + 10, days)).flatMap { day in
                    model.map { sample in
                        var sample = sample
                        sample.milliseconds += Int64(day) * Self.day
                        return sample
                    }
                }
                try recorded.store(
                    recorded.batches(of: samples, plug: RecordedPlugs.id(plug), origin: Self.origin, whole: true))
            }
        }
        return history
    }

    private static func name(_ plug: Int) -> String { "Plug \(plug)" }

    /// Twenty rules: one for a rise of each of the ten plugs, five for a fall, two for times of day, and one each for
    /// energy, an appliance and a press.
    private static var rules: [Rule] {
        var rules = (0..<plugs).map { plug in
            Rule(
                name: "on \(plug)",
                triggers: [
                    .activePower(plug: name(plug), PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))
                ],
                conditions: [.time(DailyWindow())],
                actions: [.turnOff(["Ceiling Light"]), .turnOn([name((plug + 1) % plugs)])], cooldown: .seconds(10))
        }
        rules += (0..<5).map { plug in
            Rule(
                name: "off \(plug)",
                triggers: [
                    .activePower(plug: name(plug), PowerThreshold(.fallsBelow, watts: 5, dwell: .seconds(60)))
                ],
                actions: [.turnOff([name((plug + 1) % plugs)])])
        }
        let others: [(String, Trigger)] = [
            ("morning", .schedule(.daily(TimeOfDay(second: 27_000) ?? .midnight, on: .all))),
            ("night", .schedule(.daily(.midnight, on: .all))),
            ("a kilowatt hour", .activeEnergy(plug: name(1), EnergyThreshold(1000, since: .day))),
            ("finished", .appliance(plug: name(2), .finished(nil))),
            ("press", .button(plug: name(3), .single)),
        ]
        return rules
            + others.map { name, trigger in
                Rule(name: name, triggers: [trigger], actions: [.notify(title: nil, text: "{rule}")])
            }
    }

    /// Runs `work` and returns the peak of the process's resident memory in MB.
    private func peak(_ work: () throws -> Void) throws -> Double {
        // Resets the peak (proc(5)).
        let reset = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
        try reset?.write(contentsOf: Data("5".utf8))
        try work()
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw BenchmarkError("the kernel does not report the peak memory") }
        return kilobytes / 1000
    }
}
