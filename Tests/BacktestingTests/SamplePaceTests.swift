import Foundation
import PlugModel
import ProtocolCore
import RuleModel
import Testing

@testable import Backtesting

@Suite("Dwells at changing paces of sampling")
struct SamplePaceTests {
    private struct Point {
        var second: Int
        var watts: Double
        /// The longest time since the previous sample that does not interrupt a dwell, in seconds.
        var gap: Int
    }

    private static func rule(_ dwell: Int) -> Rule {
        Rule(
            name: "up",
            triggers: [
                .activePower(plug: "Kettle", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(dwell)))
            ], actions: [.toggle(["Lamp"])])
    }

    private static func told(_ points: [(Int, Double)], _ dwell: Int) throws -> [Int] {
        let past = try FakeHistory()
        try past.record("Kettle", "00000000a001", at: points.map { (second: $0.0, watts: $0.1) })
        let end = (points.last?.0 ?? 0) + 1000
        let report = try past.run([rule(dwell)], 0...end)
        return report.firings.map { Int(($0.trace.at - FakeHistory.midnight) / 1000) }
    }

    /// Calculates the firings sample by sample, without code of the engine.
    private static func oracle(_ points: [Point], _ lastGap: Int, _ dwell: Int) -> [Int] {
        var fired: [Int] = []
        var (isArmed, since, last): (Bool, Int?, Int) = (points[0].watts == 0, nil, points[0].second)
        func end(before next: Int, gap: Int) {
            guard let begin = since, min(begin + dwell, last + gap) < next else { return }
            since = nil
            if begin + dwell <= last + gap {
                fired.append(begin + dwell)
                isArmed = false
            }
        }
        for point in points.dropFirst() {
            end(before: point.second, gap: point.gap)
            if point.watts == 0 {
                // A reading of 0 W at the exact end of the dwell cancels it.
                (isArmed, since) = (true, nil)
            } else if let begin = since, begin + dwell == point.second {
                fired.append(point.second)
                (isArmed, since) = (false, nil)
            } else if isArmed, since == nil {
                since = point.second
            }
            last = point.second
        }
        end(before: .max, gap: lastGap)
        return fired
    }

    private static func randomPoints(_ random: inout SeededRandom) -> (points: [Point], lastGap: Int) {
        var points: [Point] = []
        var (second, watts, gap) = (0, 0.0, 5)
        for _ in 0..<Int.random(in: 2...6, using: &random) {
            let pace = [1, 2, 5, 12, 30].randomElement(using: &random)!
            let count = Int.random(in: 12...80, using: &random)
            var sinceHole = 9
            gap = max(5, 3 * pace)
            for index in 0..<count {
                let isHole = index < count - 9 && index > 0 && sinceHole >= 9 && random.chance(0.1)
                sinceHole = isHole ? 0 : sinceHole + 1
                second += isHole ? .random(in: gap + 1...115, using: &random) : pace
                if random.chance(0.06) { watts = 100 - watts }
                points.append(Point(second: second, watts: watts, gap: gap))
            }
        }
        return (points, gap)
    }

    /// The number of random cases: 10,000 in the long form of the tests, otherwise 300.
    private static let cases: UInt64 = {
        let seeds = ProcessInfo.processInfo.environment["SMARTPLUG_SEEDS"].flatMap(UInt64.init)
        return (seeds ?? 0) >= 5000 ? 10_000 : 300
    }()

    @Test("With random paces and gaps, a rule fires at the times that an independent calculation predicts")
    func random() throws {
        for seed in 0..<Self.cases {
            var random = SeededRandom(seed: seed)
            let (points, lastGap) = Self.randomPoints(&random)
            let dwell = Int.random(in: 1...200, using: &random)
            let told = try Self.told(points.map { ($0.second, $0.watts) }, dwell)
            #expect(told == Self.oracle(points, lastGap, dwell), "seed \(seed), dwell \(dwell) s")
        }
    }

    @Test("A gap is compared with the pace of the samples before it, even if that pace lasted for only two intervals")
    func faster() throws {
        for fast in [2, 3, 60] {
            let slow = (0..<50).map { ($0 * 20, 0.0) }
            let up = (0...fast).map { (980 + $0, $0 > fast - 3 ? 100.0 : 0) }
            let points = slow.dropLast() + up
            #expect(try Self.told(Array(points), 30).isEmpty, "fired with \(fast) fast samples at the end")
            let later = (0..<20).map { (1040 + fast + 20 * $0, 0.0) }
            #expect(try Self.told(points + later, 30).isEmpty, "fired with \(fast) fast samples before a gap")
        }
    }

    @Test("A dwell continues while samples come at a slower pace")
    func slower() throws {
        var points = (0..<300).map { ($0, 0.0) }
        points += (0..<40).map { (300 + 20 * $0, 100.0) }
        points += (0..<300).map { (1081 + $0, 100.0) }
        #expect(try Self.told(points, 300) == [600])
    }
}
