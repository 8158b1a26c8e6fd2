import Automation
import Backtesting
import Foundation
import LocalCalendar
import Metering
import PlugProtocol
import PowerHistory
import ProtocolCore

/// Thirty days of ten plugs at a sample a second, and twenty rules that run over them.
struct MonthOfAHouse {
    private static let day: Int64 = 86_400_000
    private static let origin: Int64 = 1_790_000_000_000 / day * day
    private static let days = 30
    private static let mix = Int(ProcessInfo.processInfo.environment["MONTH_MIX"] ?? "0") ?? 0
    private static let plugs = 10
    /// Megabytes that 28 days more may take: what is listed of their firings. All their samples would be four hundred.
    private static let growth = 16.0
    private static let span = origin...origin + Int64(days) * day - 1

    func figures() throws -> [Figure] {
        let folder = try ScratchFolder()
        let history = try fill(folder.path)
        let house = PastHouse(history, zone: .utc)
        let rules = Self.rules
        if let path = ProcessInfo.processInfo.environment["MONTH_DUMP"] {
            let began = ContinuousClock().now
            let report = try house.run(rules, over: Self.span, tellsAsides: true)
            FileHandle.standardError.write(Data("\(ContinuousClock().now - began)\n".utf8))
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            var text = Data()
            for record in BacktestRecord.records(of: report) { text += try encoder.encode(record) + Data("\n".utf8) }
            text += Data(report.lines(.utc).joined(separator: "\n").utf8)
            try text.write(to: URL(fileURLWithPath: path))
            exit(0)
        }
        if ProcessInfo.processInfo.environment["MONTH_PERF"] != nil {
            for _ in 0..<6 {
                let (t0, w0) = (clock(), ContinuousClock().now)
                try pass(history)
                let (t1, w1) = (clock(), ContinuousClock().now)
                _ = try house.run(rules, over: Self.span)
                let (t2, w2) = (clock(), ContinuousClock().now)
                FileHandle.standardError.write(Data("cpu \(t1 - t0) \(t2 - t1) \(Double(t2 - t1) / Double(t1 - t0)) wall \((w2 - w1) / (w1 - w0))\n".utf8))
            }
            exit(0)
        }
        // Before the long runs: what the process once had it need not ask for again.
        let short = try peak {
            _ = try house.run(rules, over: Self.span.lowerBound...Self.span.lowerBound + 2 * Self.day)
        }
        let long = try peak { _ = try house.run(rules, over: Self.span) }
        var times: (backtest: [Double], pass: [Double]) = ([], [])
        var firings = 0
        for _ in 0..<3 {
            times.pass.append(try secondsTaken { try pass(history) })
            times.backtest.append(
                try secondsTaken {
                    firings = try house.run(rules, over: Self.span).counts.values.reduce(0) { $0 + $1.firings }
                })
        }
        guard firings > Self.days else { throw Complaint("\(firings) firings in \(Self.days) days") }
        let samples = Double(Self.days * Self.plugs) * 86_400
        return [
            Figure(
                "backtest, 30 days x 10 plugs, 20 rules", times.backtest.median, "s",
                against: .init(name: "decoding and one pass", value: times.pass.median), .ratioAtMost(2)),
            Figure("the same, samples a second", samples / times.backtest.median / 1e6, "M/s"),
            Figure("the same, firings", Double(firings), ""),
            Figure("the same, peak memory", long, "MB", against: .init(name: "of 2 days", value: short)),
            Figure("the same, more than of 2 days", max(0, long - short), "MB", .atMost(Self.growth)),
        ]
    }

    /// What has to be done in any case: each sample is decoded, and looked at once.
    private func pass(_ history: PowerHistory) throws {
        var above = 0
        for plug in 0..<Self.plugs {
            var cursor = try history.cursor(
                of: RecordedPlugs.id(plug), from: Self.span.lowerBound, to: Self.span.upperBound)
            while let samples = try cursor.piece() {
                for sample in samples where sample.activePower > 40 { above += 1 }
            }
        }
        guard above > 0 else { throw Complaint("nothing ever ran") }
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
            for first in stride(from: 0, to: Self.days, by: 10) {
                let samples = (first..<first + 10).flatMap { day -> [Sample] in
                    model.map { sample in
                        var sample = sample
                        sample.milliseconds += Int64(day) * Self.day
                        if Self.mix >= 1 {
                            sample.milliseconds += Int64(plug) * 37 + sample.milliseconds / 1000 * 7919 % 23
                            let second = sample.milliseconds / 1000 + Int64(plug) * 1777
                            if second % 5003 < 9 || second % 40_009 < 1000 { sample.milliseconds = -1 }
                            if second % 997 == 3 { sample.deciwatts = 700 }
                        }
                        return sample
                    }.filter { $0.milliseconds >= 0 }
                }
                try recorded.store(
                    recorded.batches(of: samples, plug: RecordedPlugs.id(plug), origin: Self.origin, whole: true))
            }
        }
        return history
    }

    private static func name(_ plug: Int) -> String { "Plug \(plug)" }

    /// Of each plug one that waits for it to rise, of most one that waits for it to fall; two by the clock, one of energy, one of an
    /// appliance, one of a press.
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
        if Self.mix >= 1 {
            var queued = Rule(name: "queued", triggers: [.activePower(plug: name(4), PowerThreshold(.risesAbove, watts: 60))], conditions: [.any([.activePower(plug: name(2), .below(300)), .relay(plug: name(1), on: true)])], actions: [.turnOff([name(5), "Ceiling Light"]), .wait(.seconds(40)), .turnOn([name(5)]), .restore(["Ceiling Light"])])
            queued.mode = .queued(atMost: 5)
            var away = Rule(name: "away", triggers: [.lost(plug: name(6), dwell: .seconds(30)), .back(plug: name(7), dwell: .seconds(5))], actions: [.turnOff([name(6)]), .toggle([name(7)])])
            away.remembersAway = .seconds(3600)
            var parallel = Rule(name: "parallel", triggers: [.activePower(plug: name(2), PowerThreshold(.fallsBelow, watts: 30, dwell: .seconds(2)))], actions: [.waitUntil(.activePower(plug: name(8), .above(50)), timeout: .seconds(200), .goOn), .dimBy(["Ceiling Light"], permille: 100, over: .zero)])
            parallel.mode = .parallel(atMost: 8)
            let more = [queued, away, parallel,
                Rule(name: "in a band", triggers: [.activePowerStays(plug: name(9), PowerBand(20, 90, dwell: .seconds(7))), .activePowerStays(plug: name(2), PowerBand(5, 90, dwell: .seconds(17)))], actions: [.turnOn([name(3)], autoOff: .seconds(30))]),
                Rule(name: "restart", triggers: [.relay(plug: name(3), on: nil)], actions: [.waitUntil(.relay(plug: name(4), on: false), timeout: .seconds(100), .stop), .turnOff([name(4)])]),
                Rule(name: "after", triggers: [.rule("off 2"), .rule("finished")], actions: [.toggle([name(0)])]),
                Rule(name: "cold", triggers: [.appliance(plug: name(0), .finished(nil)), .appliance(plug: name(0), .started(nil)), .appliance(plug: name(2), .started(nil))], actions: [.turnOff([name(9)])]),
                Rule(name: "energy 2", triggers: [.activeEnergy(plug: name(2), EnergyThreshold(100, since: .hour)), .activeEnergy(plug: name(0), EnergyThreshold(10, since: .on))], actions: [.turnOff([name(0)])]),
            ]
            rules += more
        }
        return rules
            + others.map { name, trigger in
                Rule(name: name, triggers: [trigger], actions: [.notify(title: nil, text: "{rule}")])
            }
    }

    /// Megabytes that the process took at most meanwhile.
    private func peak(_ work: () throws -> Void) throws -> Double {
        // The kernel counts the peak from here on (proc(5)).
        let reset = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
        try reset?.write(contentsOf: Data("5".utf8))
        try work()
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw Complaint("the kernel does not tell the peak of memory") }
        return kilobytes / 1000
    }
}
