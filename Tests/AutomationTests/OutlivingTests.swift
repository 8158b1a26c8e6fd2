import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("State that survives a restart, the loss of a plug, and new rules")
struct OutlivingTests {
    private static let rule = Rule.television(dwell: .seconds(30))

    private static func dwelling() -> VirtualHouse {
        var house = VirtualHouse(rule)
        house.appear("Television", watts: 1, at: 0, boot: .first)
        for second in 1...10 { house.read("Television", 80, at: Double(second)) }
        return house
    }

    @Test("A dwell continues across a restart and a short loss")
    func goesOn() {
        var restarted = Self.dwelling()
        restarted.restart()
        restarted.appear("Television", watts: 80, at: 20, boot: .first)
        var lost = Self.dwelling()
        lost.at(11, .plugLost(plug: "Television"))
        lost.appear("Television", watts: 80, at: 20, boot: .first)
        for second in 21...40 {
            restarted.read("Television", 80, at: Double(second))
            lost.read("Television", 80, at: Double(second))
        }
        #expect(restarted.firings == ["31.0 Movie night"] && lost.firings == ["31.0 Movie night"])
        var undisturbed = Self.dwelling()
        for second in 11...40 { undisturbed.read("Television", 80, at: Double(second)) }
        #expect(undisturbed.requests == restarted.requests && undisturbed.requests == lost.requests)
    }

    @Test("A dwell ends at a new boot, at a reading below the threshold, or at a gap of more than 120 s")
    func ends() {
        for (boot, watts, second) in [(BootID.second, 80.0, 20.0), (.first, 39, 20), (.first, 80, 131)] {
            var house = Self.dwelling()
            house.restart()
            house.appear("Television", watts: watts, at: second, boot: boot)
            for after in 1...29 { house.read("Television", 80, at: second + Double(after)) }
            #expect(house.firings.isEmpty && house.nearMisses.count == 1)
        }
    }

    @Test("A dwell continues after a restart or a loss that is reported late, unless a reading below 40 W preceded it")
    func lostLate() {
        for restarts in [false, true] {
            var house = Self.dwelling()
            house.run(to: 20)
            if restarts { house.restart() } else { house.at(55, .plugLost(plug: "Television")) }
            house.appear("Television", watts: 100, at: 60, boot: .first)
            #expect(house.firings == ["60.0 Movie night"] && house.nearMisses.count == 1)
        }
        // The second value, 1 W, is in the quiet band, so no trigger handles its reading.
        for watts in [39.0, 1] {
            var house = Self.dwelling()
            house.read("Television", watts, at: 20)
            #expect(house.engine.memory.dwells.isEmpty)
            house.at(55, .plugLost(plug: "Television"))
            house.appear("Television", watts: 100, at: 60, boot: .first)
            house.run(to: 300)
            #expect(house.firings.isEmpty && house.nearMisses.count == 1)
        }
        var house = Self.dwelling()
        house.read("Television", 80, at: 20)
        house.at(21, .plugLost(plug: "Television"))
        house.appear("Television", watts: 100, at: 49, boot: .first)
        house.read("Television", 100, at: 50)
        #expect(house.firings == ["50.0 Movie night"])
    }

    @Test(
        "On a reload, unchanged rules keep their runtime state; a new rule does not fire for power that is already high"
    )
    func replaced() {
        let fan = Rule.button(.turnOn(["Hall"]), .wait(.seconds(60)), .turnOff(["Hall"]))
        var house = VirtualHouse(Self.rule, fan)
        house.appear("Television", watts: 1, at: 0)
        house.appear("Hall", at: 0)
        for second in 1...10 { house.read("Television", 80, at: Double(second)) }
        house.press("Hall", 1, at: 10)
        var other = Rule.television(.risesAbove, 50)
        other.name = "New"
        house.at(11, .rulesChanged([other, fan, Self.rule]))
        for second in 12...40 { house.read("Television", 80, at: Double(second)) }
        #expect(house.firings == ["10.0 By button", "31.0 Movie night"])
        var changed = fan
        changed.cooldown = .seconds(1)
        house.at(41, .rulesChanged([changed]))
        #expect(house.steps.last == "41.0 cancelled: the rule was changed")
        house.run(to: 200)
        #expect(house.commands == ["10.0 Hall: on"])
        house.press("Hall", 2, at: 201)
        #expect(house.firings.last == "201.0 By button")
    }

    @Test("The memory decodes to the encoded state with shifted times; damaged bytes never trap")
    func format() throws {
        var house = Self.dwelling()
        let energy = Rule(
            name: "Energy", triggers: [.activeEnergy(plug: "Television", EnergyThreshold(1, since: .day))],
            actions: [.wait(.seconds(9)), .restore(["Television"])])
        let off = Rule(
            name: "Off", triggers: [.schedule(.daily(.midnight, on: .all)), .rule("Energy")],
            actions: [.turnOff(["Television"])])
        house.at(11, .rulesChanged([Self.rule, energy, off]))
        house.clock(23, 59, at: 11)
        house.read("Television", 80, at: 12)
        for count in 1...3 { house.at(12, .energy(plug: "Television", milliwattHours: UInt64(count) * 1000)) }
        for second in 13...80 { house.read("Television", second < 70 ? 20 : 80, at: Double(second)) }
        house.at(80, .ruleEnabled("Off", false))
        house.at(80, .ruleRun("Energy", id: RequestID(bytes: 0..<16)!))
        let memory = house.engine.memory
        #expect(!memory.fired.isEmpty && !memory.dwells.isEmpty && !memory.runs.isEmpty && !memory.savedStates.isEmpty)
        #expect(!memory.energies.isEmpty && !memory.occurrences.isEmpty && memory.disabled == ["Off"])
        let written = HostMoment(boot: .first, instant: .at(80), nanosecondsSince1970: 0)
        let bytes = memory.stored(at: written)
        let other = HostMoment(
            boot: BootID(bytes: Array(repeating: 9, count: 16))!, instant: .at(85), nanosecondsSince1970: 0)
        var read = try StoredRuleState(decoding: bytes, at: other).engine
        #expect(read.dwells == memory.dwells && read.judgedUntil == memory.judgedUntil.map { $0 + .seconds(5) })
        #expect(read.fired == memory.fired.mapValues { $0.map { $0 + .seconds(5) } })
        #expect(
            read.runs.map(\.firing.id) == memory.runs.map(\.firing.id)
                && read.runs[0].firing.cause.description == "run by hand")
        (read.fired, read.runs, read.judgedUntil) = (memory.fired, memory.runs, memory.judgedUntil)
        #expect(read == memory)
        // Any bytes are decoded or rejected.
        var random = SeededRandom(seed: 1)
        for _ in 0..<3000 {
            var changed = Array(bytes.dropLast(StoredRuleState.hashLength))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                changed[.random(in: (StoredRuleState.magic.count + 1)..<changed.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            let damaged = StoredRuleState.sealed(changed)
            guard let read = try? StoredRuleState(decoding: damaged, at: written).engine else { continue }
            var engine = RuleEngine(rules: house.engine.rules, memory: read)
            _ = engine.handle(.deadlineReached, now: .at(100))
            _ = engine.memory
        }
    }

    @Test("A stored power value is rejected if it is not finite", arguments: [.nan, .infinity, -.infinity, 80.5])
    func values(value: Double) throws {
        var memory = EngineMemory()
        memory.dwells = [
            EngineMemory.Dwell(
                rule: "Movie night", trigger: "", plug: "Television", boot: .first, since: .at(1), latest: .at(2),
                value: value)
        ]
        let moment = HostMoment(boot: .first, instant: .at(3), nanosecondsSince1970: 0)
        let bytes = memory.stored(at: moment)
        if value.isFinite {
            #expect(try StoredRuleState(decoding: bytes, at: moment).engine == memory)
        } else {
            #expect(throws: StateDecodingError.outOfRange("a measured value")) {
                try StoredRuleState(decoding: bytes, at: moment)
            }
        }
    }

    @Test("Skipping quiet readings leaves the engine in the same state as handling them")
    func skipped() throws {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            var told = RuleEngine(rules: [Self.rule, .television(.fallsBelow, 20, dwell: .seconds(4)).named("Low")])
            _ = told.handle(.plugAppeared(plug: "Television", state: PlugState(relayOn: true)), now: .zero)
            var scanned = told
            let plug = try #require(told.index(of: "Television"))
            var watts = 30.0
            var pending: (watts: Double, time: Instant)?
            for second in 1...600 {
                if random.chance(0.1) { watts = .random(in: 0..<100, using: &random) }
                let now = Instant.at(Double(second))
                var plain = told.nextDeadline.map { $0 < now } ?? false ? told.handle(.deadlineReached, now: now) : []
                plain += told.read(plug, activePower: watts, time: now, now: now)
                var quick: [RuleEngineAction] = []
                if let due = scanned.nextDeadline, due < now {
                    if let last = pending {
                        scanned.skip(plug, activePower: last.watts, time: last.time, now: last.time)
                    }
                    pending = nil
                    quick += scanned.handle(.deadlineReached, now: now)
                }
                if scanned.quietBand(of: plug).contains(watts, time: now, now: now) {
                    pending = (watts, now)
                } else {
                    if let last = pending {
                        scanned.skip(plug, activePower: last.watts, time: last.time, now: last.time)
                    }
                    pending = nil
                    quick += scanned.read(plug, activePower: watts, time: now, now: now)
                }
                #expect(plain == quick, "seed \(seed), second \(second)")
            }
        }
    }
}

extension Rule {
    fileprivate func named(_ name: String) -> Rule {
        var rule = self
        rule.name = name
        return rule
    }
}

extension EngineMemory {
    /// Returns the file of a house whose only state is this memory.
    fileprivate func stored(at moment: HostMoment) -> [UInt8] {
        var state = StoredRuleState()
        state.engine = self
        return state.encoded(at: moment)
    }
}
