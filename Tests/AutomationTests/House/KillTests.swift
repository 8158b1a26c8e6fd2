import PlugModel
import ProtocolCore
import Testing

@Suite("The rules' process is killed")
struct KillTests {
    /// Some presses come during a write, and some while the previous change waits to be stored.
    private static let presses = [0, 2, 4, 50, 120, 121, 900].map { Duration.milliseconds(1000 + $0) }
    private static let all = Set(1...SequenceNumber(presses.count))

    private func house(
        killAfter: Int?, away: Duration, beginningIsWriting: Bool = true
    ) -> KilledHouse {
        var house = KilledHouse(killAfter: killAfter, away: away, beginningIsWriting: beginningIsWriting)
        house.run(pressing: Self.presses, for: .seconds(60))
        return house
    }

    /// Calls the body twice for each number of actions, from 0 to the number of a run without a kill. The process is
    /// killed after this number of actions. If the last action is a write, the write reaches the disk in the first call
    /// and is lost in the second one.
    private func killEverywhere(away: Duration, _ body: (KilledHouse, String) -> Void) {
        let count = house(killAfter: nil, away: away).actionCount
        #expect(count > 40)
        for kill in 0...count {
            for beginningIsWriting in [true, false] {
                body(
                    house(killAfter: kill, away: away, beginningIsWriting: beginningIsWriting),
                    "killed after \(kill) actions, its write \(beginningIsWriting ? "done" : "lost")")
            }
        }
    }

    @Test("Without a kill each press fires once, the lamp is in the right state, and few writes are needed")
    func unharmed() {
        let house = house(killAfter: nil, away: .zero)
        #expect(house.violations.isEmpty)
        #expect(house.fired == Self.all && house.heldBack.isEmpty && house.refused.isEmpty)
        #expect(Set(house.effects).count == house.effects.count && house.lampOn)
        #expect(house.effects.count + house.overtaken.count >= Self.presses.count && house.effects.count >= 4)
        #expect(house.writes <= 10, "single presses need one write each, and the others share a few")
    }

    @Test("After a kill at any action and a restart 0.5 s later, every press fires and the lamp is in the right state")
    func everywhere() {
        killEverywhere(away: .milliseconds(500)) { house, what in
            #expect(house.violations.isEmpty, "\(what)")
            #expect(house.fired.union(house.overtaken) == Self.all, "\(what)")
            #expect(house.heldBack.isEmpty && house.refused.isEmpty, "\(what)")
            #expect(Set(house.effects).count == house.effects.count && house.lampOn, "\(what)")
            #expect(house.effects.count + house.overtaken.count >= Self.presses.count, "\(what)")
        }
    }

    @Test("If the restart is too late for a press, the press is held back, or its stored command is executed")
    func late() {
        var heldBack = 0
        killEverywhere(away: .seconds(8)) { house, what in
            #expect(house.violations.isEmpty, "\(what)")
            #expect(house.fired.union(house.heldBack).union(house.overtaken) == Self.all, "\(what)")
            #expect(house.fired.isDisjoint(with: house.heldBack) && house.refused.isEmpty, "\(what)")
            #expect(Set(house.effects).count == house.effects.count, "\(what)")
            #expect(house.effects.count + house.overtaken.count >= house.fired.count, "\(what)")
            #expect(house.lampOn == (house.fired.union(house.overtaken).count % 2 == 1), "\(what)")
            heldBack += house.heldBack.count
        }
        #expect(heldBack > 0, "some presses are held back")
    }

    @Test("If the restart is too late for any command, unanswered commands are reported as refused")
    func tooLate() {
        var refused = 0
        killEverywhere(away: .seconds(12)) { house, what in
            #expect(house.violations.isEmpty, "\(what)")
            // The outcome is reported even if no process reported the firing.
            #expect(
                house.fired.union(house.heldBack).union(house.refused).union(house.overtaken) == Self.all, "\(what)")
            #expect(house.fired.union(house.refused).isDisjoint(with: house.heldBack), "\(what)")
            #expect(Set(house.effects).count == house.effects.count, "\(what)")
            let unknown = house.refused.count
            let decided = house.fired.union(house.refused).union(house.overtaken).count
            let least = decided - unknown - house.overtaken.count
            #expect((least...decided).contains(house.effects.count), "\(what)")
            refused += unknown
        }
        #expect(refused > 0, "some commands are refused")
    }
}
