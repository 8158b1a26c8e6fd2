import Metering
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel
import TestSupport
import Testing

@testable import Backtesting

/// A history of invented plugs. Its files are removed at the end of the test.
final class FakeHistory {
    /// 4 March 2024, 00:00 UTC, in milliseconds.
    static let midnight: Int64 = 1_709_510_400_000
    let history: PowerHistory
    private let folder = TestFolder(on: .memory)
    private var boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!

    init() throws {
        history = try PowerHistory(folder.path, role: .recorder)
    }

    /// Records one sample per second of a span; `watts` returns the power of each second.
    func record(_ name: String, _ id: String, _ seconds: Range<Int>, _ watts: (Int) -> Double) throws -> PlugID {
        try record(name, id, at: seconds.map { ($0, watts($0)) })
    }

    /// Records samples at seconds after midnight.
    @discardableResult
    func record(_ name: String, _ id: String, at points: [(second: Int, watts: Double)]) throws -> PlugID {
        let plug = try #require(PlugID(rawValue: id))
        var encoder = SampleChunkEncoder()
        let samples = points.map { Sample(milliseconds: Int64($0.second) * 1000, deciwatts: Int32($0.watts * 10)) }
        let chunks = encoder.append(contentsOf: samples) + [encoder.seal()].compactMap(\.self)
        var batch = HistoryBatch()
        batch.names[plug] = name
        batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: Self.midnight, chunk: $0) }
        try history.record(batch)
        return plug
    }

    /// Records that the plug's relay was switched at a second of the day.
    func switched(_ plug: PlugID, _ number: UInt64, on: Bool, at second: Int) throws {
        let event = PlugEvent(
            sequence: number, boot: boot, time: .zero, kind: .relayChanged(on: on, cause: .button))
        var batch = HistoryBatch()
        batch.events = [
            StoredEvent(
                plug: plug, content: .event(event), at: Self.midnight + Int64(second) * 1000, isTimeKnown: true)
        ]
        try history.record(batch)
    }

    /// Records that a command of a rule switched the plug, with the trace of the rule.
    func commanded(_ plug: PlugID, _ number: UInt64, on: Bool, at second: Int, by rule: String) throws {
        let id = try #require(RequestID(bytes: [UInt8](repeating: 0xAB, count: 16)))
        let event = PlugEvent(
            sequence: number, boot: boot, time: .zero,
            kind: .relayChanged(on: on, cause: .controller(name: "plugctl", request: id)))
        let at = Self.midnight + Int64(second) * 1000
        var batch = HistoryBatch()
        batch.events = [StoredEvent(plug: plug, content: .event(event), at: at, isTimeKnown: true)]
        batch.traces = [
            StoredTrace(
                id: "\(rule) \(second)", at: at, rule: rule, isFiring: true,
                json: #"{"steps":[{"id":"\#(id.hexadecimal)","plug":"Amplifier"}]}"#)
        ]
        try history.record(batch)
    }

    func run(_ rules: [Rule], _ seconds: ClosedRange<Int>, tellsAsides: Bool = false) throws -> BacktestReport {
        let span = Self.midnight + Int64(seconds.lowerBound) * 1000...Self.midnight + Int64(seconds.upperBound) * 1000
        return try PastHouse(history, zone: .utc).run(rules, over: span, tellsAsides: tellsAsides)
    }
}

extension BacktestReport {
    /// The firings as `Rule second`, with the second of the day.
    var told: [String] { firings.map { "\($0.trace.rule) \(Double($0.trace.at - FakeHistory.midnight) / 1000)" } }
}

@Suite struct BacktestingTests {
    private func rises(_ plug: String, _ watts: Double, _ dwell: Duration = .zero) -> Trigger {
        .activePower(plug: plug, PowerThreshold(.risesAbove, watts: watts, dwell: dwell))
    }

    @Test("A rise fires after its dwell, and the report shows the recorded switching")
    func risesFireAfterTheirDwellAndStandBesideTheJournal() throws {
        let past = try FakeHistory()
        _ = try past.record("Television", "00000000a001", 0..<7200) { (1000..<1100).contains($0 % 3600) ? 90 : 1 }
        let amplifier = try past.record("Amplifier", "00000000a002", 0..<7200) { _ in 0 }
        try past.switched(amplifier, 1, on: false, at: 10)
        try past.switched(amplifier, 2, on: true, at: 1045)
        let rule = Rule(
            name: "Movie", triggers: [rises("television", 40, .seconds(3))], actions: [.turnOn(["Amplifier"])])
        let report = try past.run([rule], 0...7199)
        #expect(report.told == ["Movie 1003.0", "Movie 4603.0"])
        #expect(report.firings[0].trace.since == FakeHistory.midnight + 1_000_000)
        #expect(
            report.firings[0].recorded[0]
                == RecordedSwitching(at: FakeHistory.midnight + 1_045_000, source: .journal))
        #expect(report.firings[1].recorded[0] == RecordedSwitching(at: nil, wasSo: true, source: .journal))
    }

    @Test("Skipping quiet samples does not change the result") func theSameComesOutWhateverWasPassedOver() throws {
        // If a rule watches the appliance, the engine skips no sample. The run with this rule is compared with a run
        // without it.
        let past = try FakeHistory()
        _ = try past.record("Kettle", "00000000a001", 0..<20_000) { Double($0 * 7919 % 211) / 2 }
        _ = try past.record("Lamp", "00000000a002", 3..<20_000) { $0 % 600 < 200 ? 60 : 0.4 }
        let rules = [
            Rule(name: "up", triggers: [rises("Kettle", 95)], actions: [.toggle(["Lamp"])], cooldown: .seconds(20)),
            Rule(
                name: "lit", triggers: [rises("Lamp", 20, .seconds(30))],
                conditions: [.activePower(plug: "Kettle", .above(50))], actions: [.turnOff(["Kettle"])]),
        ]
        let watching = Rule(
            name: "watch",
            triggers: [
                .appliance(plug: "Kettle", .finished(.compressor)), .appliance(plug: "Lamp", .finished(.defrost)),
            ],
            actions: [.notify(title: nil, text: "done")])
        let plain = try past.run(rules, 0...19_999)
        let watched = try past.run(rules + [watching], 0...19_999)
        #expect(plain.told.count > 100 && plain.told == watched.told.filter { !$0.hasPrefix("watch") })
        #expect(plain.lines(.utc) == (try past.run(rules, 0...19_999)).lines(.utc))
    }

    @Test("A stopped run reports the firings until then, and its span ends there")
    func stopped() throws {
        let past = try FakeHistory()
        _ = try past.record("Kettle", "00000000a001", 0..<20_000) { $0.isMultiple(of: 2) ? 90 : 1 }
        let rule = Rule(name: "hot", triggers: [rises("Kettle", 40)], actions: [.turnOn(["Lamp"])])
        let whole = try past.run([rule], 0...19_999)
        var checks = 0
        let stopped = try PastHouse(past.history, zone: .utc).run([rule], over: whole.span) {
            checks += 1
            return checks > 3
        }
        #expect(stopped.span.lowerBound == whole.span.lowerBound && stopped.span.upperBound < whole.span.upperBound)
        #expect(stopped.told.count > 10 && stopped.told == Array(whole.told.prefix(stopped.told.count)))
        let listed = BacktestRecord.records(of: stopped, limit: 5)
        #expect(listed.count { $0.event == "firing" } == 5)
        #expect(listed.last?.event == "omitted" && listed.last?.omitted == stopped.firings.count - 5)
    }

    @Test("Entries that are not listed are counted in the text and the records")
    func whatIsCutIsSaidInTextAndRecords() throws {
        let past = try FakeHistory()
        let count = 4 * BacktestReport.limit + 20
        _ = try past.record("Kettle", "00000000a001", 0..<count) { $0.isMultiple(of: 2) ? 90 : 1 }
        let free = Rule(name: "free", triggers: [rises("Kettle", 40)], actions: [.turnOn(["Lamp"])])
        let held = Rule(
            name: "held", triggers: [rises("Kettle", 40)], actions: [.turnOn(["Lamp"])], cooldown: .seconds(86_400))
        let report = try past.run([free, held], 0...(count - 1), tellsAsides: true)
        let all = report.counts["free"]?.firings ?? 0
        #expect(all > BacktestReport.limit && report.firings.count == BacktestReport.limit)
        #expect(report.omitted > 0 && report.omittedAsides > 0)
        #expect(report.lines(.utc).contains("\(report.omitted) more firings are counted but not listed"))
        let last = try #require(BacktestRecord.records(of: report).last)
        #expect(last.event == "omitted" && last.omitted == report.omitted)
        #expect(last.omittedAsides == report.omittedAsides)
    }

    @Test("Skipping quiet samples does not change the result at changing paces, with gaps and dwells")
    func theSameComesOutAtPacesThatChangeWithHolesAndDwells() throws {
        var fired = 0
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed))
            let past = try FakeHistory()
            var (second, watts) = (0, 5.0)
            for _ in 0..<6 {
                let pace = [1, 5, 10, 60].randomElement(using: &random)!
                let seconds = stride(from: second, to: second + 300 * pace, by: pace)
                try past.record(
                    "Kettle", "00000000a001",
                    at: seconds.map { second in
                        if random.chance(0.02) { watts = .random(in: 0...100, using: &random) }
                        return (second, watts)
                    })
                second += 300 * pace + (random.chance(0.3) ? .random(in: 1...400, using: &random) : 0)
            }
            let rules = (0..<4).map { number in
                Rule(
                    name: "\(number)",
                    triggers: [
                        rises(
                            "Kettle", .random(in: 20...90, using: &random),
                            .seconds(.random(in: 1...900, using: &random)))
                    ],
                    actions: [.toggle(["Lamp"])])
            }
            let watching = Rule(
                name: "watch", triggers: [.appliance(plug: "Kettle", .finished(.compressor))],
                actions: [.notify(title: nil, text: "done")])
            let plain = try past.run(rules, 0...second)
            let watched = try past.run(rules + [watching], 0...second)
            #expect(plain.told == watched.told.filter { !$0.hasPrefix("watch") }, "seed \(seed)")
            fired += plain.told.count
        }
        #expect(fired > 100)
    }

    @Test("A dwell continues if the pace of sampling changes") func aDwellGoesOnWhereThePaceOfSamplingChanges() throws {
        for (before, after) in [(1, 10), (10, 1)] {
            let past = try FakeHistory()
            let steps = Array(stride(from: 0, to: 600, by: before)) + Array(stride(from: 600, to: 1800, by: after))
            try past.record("Kettle", "00000000a001", at: steps.map { ($0, $0 < 300 ? 1 : 90) })
            let rule = Rule(
                name: "long", triggers: [rises("Kettle", 40, .seconds(1000))], actions: [.turnOff(["Kettle"])])
            let report = try past.run([rule], 0...1799)
            #expect(report.told.count == 1 && report.counts["long"]?.nearMisses == 0, "\(before) s, then \(after) s")
        }
    }

    @Test("A plug without samples is absent, and its trigger must arm again when the plug returns")
    func aPlugIsAwayWhileNothingWasRecordedAndOnlyArmsWhenItIsBack() throws {
        let past = try FakeHistory()
        _ = try past.record("Heater", "00000000a001", 0..<600) { _ in 1 }
        _ = try past.record("Heater", "00000000a001", 1200..<1800) { _ in 500 }
        let rules = [
            Rule(name: "hot", triggers: [rises("Heater", 100)], actions: [.turnOff(["Heater"])]),
            Rule(name: "gone", triggers: [.lost(plug: "Heater", dwell: .seconds(60))], actions: [.turnOn(["Lamp"])]),
        ]
        #expect(try past.run(rules, 0...1799).told == ["gone 779.0"])
    }

    @Test("Schedules, waits and auto-off run in virtual time") func schedulesWaitsAndAutoOffGoByVirtualTime() throws {
        let past = try FakeHistory()
        let fan = try past.record("Fan", "00000000a001", 0..<40_000) { _ in 0 }
        try past.switched(fan, 1, on: false, at: 1)
        let rules = [
            Rule(
                name: "air", triggers: [.schedule(.daily(try #require(TimeOfDay(hour: 1, minute: 0)), on: .all))],
                actions: [.turnOn(["Fan"], autoOff: .seconds(900)), .wait(.seconds(60)), .turnOn(["Lamp"])]),
            Rule(name: "off", triggers: [.relay(plug: "Fan", on: false)], actions: [.turnOff(["Lamp"])]),
        ]
        let report = try past.run(rules, 2...39_999)
        #expect(report.told == ["air 3600.0", "off 4500.0"])
        let steps = report.firings[0].trace.steps.map { "\(($0.at - FakeHistory.midnight) / 1000) \($0.what)" }
        #expect(steps == ["3600 turn on Fan for 15 min", "3600 waits", "3660 turn on Lamp"])
        #expect(report.unrecorded == ["Lamp"])
    }

    @Test("A comparison lists the firings that only one of two versions of a rule has")
    func twoVersionsAreCompared() throws {
        let past = try FakeHistory()
        _ = try past.record("Television", "00000000a001", 0..<3600) { [500: 60, 1000: 120][$0 / 10 * 10] ?? 1 }
        let low = Rule(name: "Movie", triggers: [rises("Television", 40)], actions: [.turnOn(["Amplifier"])])
        let high = Rule(name: "Movie", triggers: [rises("Television", 100)], actions: [.turnOn(["Amplifier"])])
        let comparison = BacktestComparison(try past.run([low], 0...3599), against: try past.run([high], 0...3599))
        #expect(comparison.inBoth == 1 && comparison.onlyThere.isEmpty)
        #expect(comparison.onlyHere.map(\.trace.at) == [FakeHistory.midnight + 500_000])
    }

    @Test("A recorded switching by a command of a rule is reported as such and fires no rule")
    func whatTheRuleItselfDidThenIsNobodysSwitching() throws {
        let past = try FakeHistory()
        _ = try past.record("Television", "00000000a001", 0..<3600) { $0 >= 1000 ? 90 : 1 }
        let amplifier = try past.record("Amplifier", "00000000a002", 0..<3600) { _ in 0 }
        try past.switched(amplifier, 1, on: false, at: 10)
        try past.commanded(amplifier, 2, on: true, at: 990, by: "Movie")
        let rules = [
            Rule(name: "Movie", triggers: [rises("Television", 40)], actions: [.turnOn(["Amplifier"])]),
            Rule(name: "on", triggers: [.relay(plug: "Amplifier", on: true)], actions: []),
        ]
        let report = try past.run(rules, 20...3599)
        #expect(report.told == ["Movie 1000.0", "on 1000.0"])
        #expect(
            report.firings[0].recorded[0] == RecordedSwitching(at: FakeHistory.midnight + 990_000, source: .rule))
        #expect(report.lines(.utc).contains { $0.hasSuffix("switched on 10 s before by a command of a rule") })
    }

    @Test("A remembered command for an absent plug is carried out when the plug returns")
    func aPlugThatIsAwayHasItsWishWhenItIsBack() throws {
        let past = try FakeHistory()
        _ = try past.record("Heater", "00000000a001", 0..<600) { _ in 1 }
        _ = try past.record("Heater", "00000000a001", 1200..<1800) { _ in 1 }
        var cold = Rule(
            name: "cold", triggers: [.lost(plug: "Heater", dwell: .seconds(60))], actions: [.turnOff(["Heater"])])
        cold.remembersAway = .seconds(3600)
        let rules = [cold, Rule(name: "off", triggers: [.relay(plug: "Heater", on: false)], actions: [])]
        let report = try past.run(rules, 0...1799)
        #expect(report.told == ["cold 779.0", "off 1200.0"])
        #expect(report.firings[0].trace.steps.map(\.what) == ["turn off Heater, once the plug is back"])
    }

    @Test("A report states which part of the span was recorded")
    func aSpanOfWhichLittleWasRecordedIsNotTakenForAQuietOne() throws {
        let past = try FakeHistory()
        _ = try past.record("Heater", "00000000a001", 0..<600) { _ in 1 }
        _ = try past.record("Heater", "00000000a001", 1200..<1800) { _ in 1 }
        let rule = Rule(name: "hot", triggers: [rises("Heater", 100)], actions: [.turnOff(["Heater"])])
        let part = try past.run([rule], 0...7200)
        #expect(
            part.summary(.utc).contains(
                "Heater is recorded from 2024-03-04 00:00:00 to 2024-03-04 00:29:59, with gaps of 10 min 1 s"))
        let none = try past.run([rule], 5000...7200)
        #expect(none.summary(.utc).contains("Heater has no recorded samples in this span"))
        #expect(try past.run([rule], 0...599).summary(.utc).count == 2)
    }

    @Test("Before its first recorded change, the relay counts as being in the opposite state")
    func aRelayStoodTheOtherWayBeforeItWasFirstSwitched() throws {
        let past = try FakeHistory()
        let lamp = try past.record("Lamp", "00000000a001", 0..<3600) { _ in 0 }
        for number in 1...500 { try past.switched(lamp, UInt64(number), on: number % 2 == 1, at: 100 + number) }
        #expect(
            try past.history.relay(of: lamp, at: FakeHistory.midnight, until: FakeHistory.midnight + 1_000_000) == false
        )
        #expect(
            try past.history.relay(of: lamp, at: FakeHistory.midnight + 600_500, until: FakeHistory.midnight + 601_000)
                == false)
    }
}
