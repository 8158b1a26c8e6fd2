import LinuxNetwork
import PlugProtocol
import Terminal
import Testing

@testable import Presentation

@Suite struct HouseTableTests {
    private let plain = Capabilities(environment: [:], isTerminal: false)
    private let clock = moment.iso8601(offset: moment.localOffset).dropFirst(11).prefix(8)

    private func text(_ table: HouseTable, _ columns: Int = 80, _ rows: Int = 12) -> [String] {
        table.lines(size: TerminalSize(columns: columns, rows: rows), capabilities: plain).map {
            var text = Substring($0.text)
            while text.last == " " { text.removeLast() }
            return String(text)
        }
    }

    private var house: HouseTable {
        var table = HouseTable(notes: ["space turns it over"])
        for name in ["Television", "Lamp", "Kettle"] { table.add(name) }
        table.take(report(.connected(description), of: "Lamp"))
        table.take(report(.snapshot(state(level: 40)), of: "Lamp"))
        table.take(report(.connected(description), of: "Television"))
        table.take(report(.snapshot(state(on: false, watts: 0.5)), of: "Television"))
        for second in 6...9 {
            table.take(report(.state(state(on: false, watts: Double(second), time: Double(second))), of: "Television"))
        }
        table.take(report(.event(event(.relayChanged(on: true, cause: .button)), age: .zero), of: "Television"))
        return table
    }

    @Test func emptyHouse() {
        #expect(
            text(HouseTable(notes: ["note"]))[1...] == ["no plugs yet; they appear here by themselves", "", "note", ""])
    }

    @Test func aRowForEachPlugAndTheNewsBelow() {
        let golden = """
               Plug        State     Power  Last minutes
               Kettle      away          -
               Lamp        on 40 %  60.4 W                                         #
            >  Television  on          9 W                                     .+*##

            space turns it over

            \(clock)  Lamp  connected (firmware 1.2.3)
            \(clock)  Television  connected (firmware 1.2.3)
            \(clock)  Television  on (button)
            """
        #expect(text(house).joined(separator: "\n") == golden)
    }

    @Test func aPlugThatTrippedSaysSoUntilItIsReset() {
        var table = house
        table.take(report(.state(state(on: false, tripped: .overPower)), of: "Lamp"))
        #expect(text(table)[2].contains("Lamp        tripped"))
        table.take(report(.state(state(on: false)), of: "Lamp"))
        #expect(text(table)[2].contains("Lamp        off"))
    }

    @Test func noMoreLinesThanTheScreenHas() {
        #expect(text(house, 80, 3).count == 3)
        #expect(text(house, 80, 0).isEmpty)
        #expect(text(house, 80, 9).last == "\(clock)  Television  on (button)")
        for columns in 1...100 {
            let lines = house.lines(size: TerminalSize(columns: columns, rows: 4), capabilities: plain)
            #expect(lines.prefix(4).allSatisfy { $0.width <= columns })
        }
    }

    @Test func theSelectionGoesRoundAndSurvivesALoss() {
        var table = house
        #expect(table.selected == "Television", "the first that was found")
        table.select(by: 1)
        #expect(table.selected == "Kettle")
        table.select(by: -1)
        #expect(table.selected == "Television")
        table.select(by: -1)
        #expect(table.selected == "Lamp")
        table.remove("Lamp")
        #expect(table.selected == "Kettle")
        table.remove("Kettle")
        table.remove("Television")
        #expect(table.selected == nil)
        table.select(by: 1)
        #expect(table.selected == nil)
    }

    @Test func aPlugThatIsAwayShowsNothingOld() {
        var table = house
        table.take(report(.disconnected(reason: .away("connection lost"), retryIn: .zero), of: "Lamp"))
        #expect(table.state(of: "Lamp") == nil)
        let row = text(table)[2]
        #expect(row.contains("Lamp") && row.contains("away") && !row.contains("W"))
    }

    @Test func whatIsKeptIsBounded() {
        var table = house
        for second in 0..<1000 {
            table.take(report(.state(state(watts: 5, time: Double(second))), of: "Lamp"))
            table.say("line \(second)")
        }
        #expect(table.rows["Lamp"]?.course.count == 120)
        #expect(text(table, 80, 1000).filter { $0.hasPrefix("line") }.count == 100)
    }
}
