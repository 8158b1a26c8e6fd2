import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite("Skipped readings leave the engine in the same state as handled ones")
struct PassedOverTests {
    private static let utc = LocalTime.Piece(from: Instant(nanoseconds: .min), offset: 0)

    @Test("The engine fires the same rules if it skips energy values that affect no trigger")
    func energy() {
        var fired = 0
        for seed in 0..<40 {
            var random = SeededRandom(seed: UInt64(seed))
            let rules = EnergyThreshold.Period.allCases.map { period in
                let limit = Double(Int.random(in: 1...4000, using: &random)) / 10
                return Rule(
                    name: "\(period)", triggers: [.activeEnergy(plug: "Washer", EnergyThreshold(limit, since: period))],
                    actions: [.toggle(["Washer"])])
            }
            var quick = RuleEngine(rules: seed % 2 == 0 ? rules : Array(rules.prefix(2)))
            _ = quick.handle(.clockChanged(LocalTime(pieces: [Self.utc]), .unknown), now: .zero)
            _ = quick.handle(.plugAppeared(plug: "Washer", state: PlugState(relayOn: true)), now: .zero)
            var told = quick
            var (second, counted) = (1_700_000_000.0, UInt64(0))
            for _ in 0..<2000 {
                second += random.chance(0.02) ? 5000 : .random(in: 1..<60, using: &random)
                counted += .random(in: 0..<2000, using: &random)
                if random.chance(0.005) { counted = 0 }
                var event = RuleEngineEvent.energy(plug: "Washer", milliwattHours: counted)
                if random.chance(0.01) { event = .state(plug: "Washer", on: random.chance(0.5), level: nil) }
                if random.chance(0.005) {
                    let offset = Int64.random(in: -3...3, using: &random) * 1800
                    let moved = LocalTime.Piece(from: .at(second + 1000), offset: offset)
                    event = .clockChanged(LocalTime(pieces: [Self.utc, moved]), .unknown)
                }
                told.closeQuietRanges()
                let actions = told.handle(event, now: .at(second))
                #expect(quick.handle(event, now: .at(second)) == actions, "seed \(seed), second \(second)")
                fired += actions.count
            }
        }
        #expect(fired > 400)
    }

    @Test("The engine acts in the same way if it skips readings that affect no trigger")
    func paces() throws {
        var (fired, quiet, missed) = (0, 0, 0)
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            let rules = (0..<4).map { _ in
                let (watts, dwell) = (
                    Double.random(in: 20...80, using: &random), Double.random(in: 0...900, using: &random)
                )
                let direction: PowerThreshold.Direction = random.chance(0.5) ? .risesAbove : .fallsBelow
                let threshold = PowerThreshold(direction, watts: watts, dwell: .milliseconds(Int64(dwell * 1000)))
                let band = PowerBand(watts, watts + 30, dwell: .milliseconds(Int64(dwell * 1000)))
                return random.chance(0.7)
                    ? Trigger.activePower(plug: "Heater", threshold) : .activePowerStays(plug: "Heater", band)
            }.enumerated().map { Rule(name: "\($0.offset)", triggers: [$0.element], actions: [.toggle(["Heater"])]) }
            var quick = RuleEngine(rules: rules)
            _ = quick.handle(.plugAppeared(plug: "Heater", state: PlugState(relayOn: true)), now: .zero)
            var told = quick
            let plug = try #require(quick.index(of: "Heater"))
            var (second, watts, pace) = (0.0, 50.0, 1.0)
            for _ in 0..<1500 {
                if random.chance(0.01) {
                    pace = [0.2, 1, 5, 10, 60].randomElement(using: &random)!
                    let gap = Duration.milliseconds(Int64(max(5, 3 * pace) * 1000))
                    quick.expect(readingGap: gap, of: plug)
                    told.expect(readingGap: gap, of: plug)
                }
                second += random.chance(0.005) ? .random(in: 1..<400, using: &random) : pace
                if random.chance(0.03) { watts = .random(in: 0...100, using: &random) }
                let now = Instant.at(second)
                var (mine, its): ([RuleEngineAction], [RuleEngineAction]) = ([], [])
                // An engine that skips readings may check a dwell earlier, and then continues it.
                while let due = told.nextDeadline, due < now { its += told.handle(.deadlineReached, now: due) }
                while let due = quick.nextDeadline, due < now { mine += quick.handle(.deadlineReached, now: due) }
                if quick.quietBand(of: plug).contains(watts, time: now, now: now) { quiet += 1 }
                mine += quick.read(plug, activePower: watts, time: now, now: now)
                told.closeQuietRanges()
                its += told.read(plug, activePower: watts, time: now, now: now)
                #expect(mine == its, "seed \(seed), second \(second)")
                for action in its {
                    switch action {
                    case .fired: fired += 1
                    case .nearMiss(let miss):
                        missed += 1
                        #expect(miss.lasted >= .zero, "seed \(seed), second \(second)")
                    case _: break
                    }
                }
            }
        }
        #expect(fired > 1000 && missed > 1000 && quiet > 200_000)
    }

    @Test("A dwell continues when the interval of readings changes")
    func paceInDwell() throws {
        for (before, after) in [(1.0, 10.0), (10, 1)] {
            var engine = RuleEngine(rules: [.television(dwell: .seconds(100))])
            _ = engine.handle(.plugAppeared(plug: "Television", state: PlugState(relayOn: true)), now: .zero)
            let plug = try #require(engine.index(of: "Television"))
            engine.expect(readingGap: .seconds(max(5, 3 * Int(before))), of: plug)
            _ = engine.read(plug, activePower: 1, time: .at(1), now: .at(1))
            var (second, fired) = (10.0, [RuleEngineAction]())
            while second < 200 {
                // The interval changes at 60 s. Until 70 s, the reading gap of the slower interval is allowed.
                if second == 60 { engine.expect(readingGap: .seconds(30), of: plug) }
                if second == 70 { engine.expect(readingGap: .seconds(max(5, 3 * Int(after))), of: plug) }
                if let due = engine.nextDeadline, due < .at(second) {
                    fired += engine.handle(.deadlineReached, now: due)
                }
                fired += engine.read(plug, activePower: 90, time: .at(second), now: .at(second))
                second += second < 60 ? before : after
            }
            #expect(fired.contains { if case .fired = $0 { true } else { false } })
            #expect(!fired.contains { if case .nearMiss = $0 { true } else { false } })
        }
    }

    @Test("The engine acts in the same way if only its appliance detector handles the samples that affect no rule")
    func watched() throws {
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed))
            let rules = [
                Rule(
                    name: "Cold",
                    triggers: [
                        .appliance(plug: "Television", .started(nil)), .appliance(plug: "Television", .finished(nil)),
                    ], actions: [.wait(.seconds(90)), .toggle(["Television"])]),
                .television(dwell: .seconds(4)),
            ]
            var told = RuleEngine(rules: rules)
            _ = told.handle(.plugAppeared(plug: "Television", state: PlugState(relayOn: true)), now: .zero)
            var quick = told
            let plug = try #require(told.index(of: "Television"))
            let samples = (1...20_000).map { second in
                // A compressor begins with a peak, and its power is steady.
                let place = second % 1500
                let watts = place < 4 ? 400 : place < 600 ? Double.random(in: 98...102, using: &random) : 1
                return RecordedPower(
                    milliseconds: Int64(second) * 1000 + .random(in: 0..<900, using: &random),
                    deciwatts: Int32(watts * 10) * (random.chance(0.001) ? 0 : 1))
            }
            var (actions, other): ([RuleEngineAction], [RuleEngineAction]) = ([], [])
            for sample in samples {
                actions += told.catchUp(with: sample)
                actions += told.read(plug, activePower: sample.activePower, time: sample.time, now: sample.time)
            }
            var (next, passed) = (0, 0)
            while next < samples.count {
                other += quick.catchUp(with: samples[next])
                let end = min(samples.count, next + .random(in: 1...300, using: &random))
                let count = quick.watch(plug, samples.span.extracting(next..<end))
                (next, passed) = (next + count, passed + count)
                if count > 0 {
                    other += quick.hear(plug, now: samples[next - 1].time)
                } else {
                    let sample = samples[next]
                    other += quick.read(plug, activePower: sample.activePower, time: sample.time, now: sample.time)
                    next += 1
                }
            }
            #expect(actions == other && passed > 15_000, "seed \(seed)")
            #expect(actions.count { if case .fired(let firing) = $0 { firing.rule == "Cold" } else { false } } > 10)
        }
    }
}

extension RuleEngine {
    fileprivate mutating func catchUp(with sample: RecordedPower) -> [Action] {
        guard let due = nextDeadline, due < sample.time else { return [] }
        return handle(.deadlineReached, now: sample.time)
    }
}
