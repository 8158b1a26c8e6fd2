import LinuxSystem
import PlugClient
import PlugModel
import Terminal
import Testing

@testable import Presentation

@Suite struct HouseGlanceTests {
    private let plain = Capabilities(environment: [:], isTerminal: false)

    private var plugs: [PlugRecord] {
        var lamp = PlugRecord(plug: "Lamp", state: "connected")
        (lamp.on, lamp.level) = (true, 40)
        lamp.reading = ReadingRecord(plug: "Lamp", at: "", state().reading!)
        var heater = PlugRecord(plug: "Heater", state: "connected")
        (heater.on, heater.tripped) = (false, "overPower")
        var kettle = PlugRecord(plug: "Kettle", state: "away")
        kettle.reason = "connection lost\nhint: plugctl doctor"
        return [heater, kettle, lamp, PlugRecord(plug: "New Plug", state: "stranger")]
    }

    private func text(_ glance: HouseGlance, width: Int? = nil) -> String {
        glance.lines(width: width, capabilities: plain).map { line in
            var text = Substring(line.text)
            while text.last == " " { text.removeLast() }
            return String(text)
        }.joined(separator: "\n")
    }

    @Test("Each plug has a row, and a plug with a problem has a hint") func aRowForEachPlugWithWhatToDoAboutIt() {
        let golden = """
            4 plugs, 1 on, 1 tripped, 1 away, 1 not paired   60.4 W   120 Wh today

            Plug      State         Level          Power   Today
            Heater    ! tripped                        -          plugctl reset "Heater" --protection
            Kettle    . away                           -          connection lost
            Lamp      * on          ##....  40 %  60.4 W  120 Wh
            New Plug  ? not paired                     -          plugctl pair "New Plug"

            plugctl watch shows a live view, plugctl help lists all commands
            plugctl doctor shows why a plug is away
            in a browser: http://127.0.0.1:7580/
            """
        let glance = HouseGlance(plugs, wattHours: ["Lamp": 120], dashboard: "http://127.0.0.1:7580/")
        #expect(text(glance) == golden)
    }

    @Test("Without dimmers and history, their columns are omitted")
    func withoutDimmersAndHistoryTheirColumnsAreLeftOut() {
        let glance = HouseGlance([PlugRecord(plug: "Kettle", state: "connected")])
        #expect(text(glance).contains("Plug    State  Power\nKettle  o off      -\n"))
    }

    @Test("On a terminal of 20 columns a row shows the state, and the name is truncated")
    func narrow() {
        let lamps = ["Ceiling Light in the Hall", "Floor Lamp of the Living Room"].map { name in
            var plug = PlugRecord(plug: name, state: "connected")
            (plug.on, plug.tripped) = (true, name.hasPrefix("Floor") ? "overPower" : nil)
            plug.reading = ReadingRecord(plug: name, at: "", state().reading!)
            return plug
        }
        let lines = text(HouseGlance(lamps), width: 20).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[2...4] == ["Plug       State", "Ceiling ~  * on", "Floor La~  ! tripped"])
    }

    @Test("Lines are never wider than the terminal") func noLineIsWiderThanTheTerminal() {
        let glance = HouseGlance(plugs, wattHours: ["Lamp": 120])
        for width in 1...100 {
            #expect(glance.lines(width: width, capabilities: plain).allSatisfy { $0.width <= width })
        }
    }

    @Test("Control characters in a name are removed") func aNameCannotControlTheTerminal() {
        let glance = HouseGlance([PlugRecord(plug: "Lamp\u{1B}[2J\n", state: "stranger")])
        #expect(!text(glance).contains("\u{1B}"))
    }

    // MARK: Records of followed plugs

    private let id = PlugID(rawValue: "0123456789ab")!

    private func seen(_ updates: HouseFollower.Update...) -> SeenPlugs {
        var seen = SeenPlugs(paired: [PairedPlugs.Entry(id: id, key: PublicKey(bytes: [1])!, name: "Old Name")])
        for update in updates { seen.handle(update) }
        return seen
    }

    @Test("A paired plug that was not seen is shown as away") func aPlugThatIsPairedAndNotSeenIsAway() {
        #expect(seen().records.map(\.plug) == ["Old Name"])
        #expect(seen().records[0].state == "away" && seen().records[0].id == "0123456789ab")
    }

    @Test("A renamed plug is listed once") func aPlugThatBearsAnotherNameNowIsThereOnce() {
        let plugs = seen(
            .found("Lamp"), .report(report(.connected(description))), .report(report(.snapshot(state(level: 40)))))
        #expect(plugs.haveAllAnswered)
        #expect(plugs.records.map(\.plug) == ["Lamp"])
        #expect(plugs.records[0].state == "connected" && plugs.records[0].level == 40)
        #expect(plugs.records[0].reading?.activePower == 60.4)
    }

    @Test("A plug that is not paired is shown as a stranger") func whoIsNotPairedIsAStranger() {
        let words = Disconnection.distrusted("the plug is not paired with this controller")
        let plugs = seen(.found("New"), .report(report(.disconnected(reason: words, retryIn: .zero), of: "New")))
        #expect(plugs.records.first { $0.plug == "New" }?.state == "stranger")
    }

    @Test("A plug with the name of a paired plug but a different key is shown as a stranger")
    func whoPretendsToBeAPairedOneIsAStrangerToo() {
        let words = Disconnection.distrusted("it is not the plug of that name")
        let plugs = seen(.report(report(.disconnected(reason: words, retryIn: .zero), of: "Old Name")))
        #expect(plugs.records.map(\.state) == ["stranger"])
    }

    @Test("The search waits for a plug that has not answered") func aPlugThatDidNotAnswerIsWaitedFor() {
        let plugs = seen(.found("Lamp"))
        #expect(!plugs.haveAllAnswered)
        #expect(plugs.records.first { $0.plug == "Lamp" }?.state == "away")
        #expect(seen(.found("Lamp"), .lost("Lamp")).haveAllAnswered)
    }
}
