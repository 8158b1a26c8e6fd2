import LinuxSystem
import PlugModel
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
        table.handle(report(.connected(description), of: "Lamp"))
        table.handle(report(.snapshot(state(level: 40)), of: "Lamp"))
        table.handle(report(.connected(description), of: "Television"))
        table.handle(report(.snapshot(state(on: false, watts: 0.5)), of: "Television"))
        for second in 6...9 {
            table.handle(
                report(.state(state(on: false, watts: Double(second), time: Double(second))), of: "Television"))
        }
        table.handle(report(.event(event(.relayChanged(on: true, cause: .button)), age: .zero), of: "Television"))
        return table
    }

    @Test("An empty house shows a hint") func emptyHouse() {
        let lines = text(HouseTable(notes: ["note"]), 80, 8)
        #expect(
            lines == [
                "0 plugs", "", "  Plug  State  Power  Last minutes", "no plugs yet; new ones appear automatically",
                "", "note", "", "arrows select   space toggle   + - dim   enter more   / find   s sort   q quit",
            ])
    }

    @Test("Each plug has a row, and news are listed below") func aRowForEachPlugAndTheNewsBelow() {
        let golden = """
            3 plugs, 2 on, 1 away   69.4 W

               Plug        State   Level          Power  Last minutes
               Kettle      . away                     -
               Lamp        * on    ##....  40 %  60.4 W
            >  Television  * on                     9 W

            space turns it over

            \(clock)  Lamp  connected (firmware 1.2.3)
            \(clock)  Television  connected (firmware 1.2.3)
            \(clock)  Television  on (button)

            """
        let lines = text(house, 80, 14)
        // The last line has the keys.
        #expect(lines.dropLast().map { trimmed($0.prefix(57)) }.joined(separator: "\n") == golden)
        #expect(lines[4].hasSuffix("#") && lines[5].hasSuffix(".+*##"))
    }

    private func trimmed(_ line: Substring) -> Substring {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }

    @Test("The energy of today has its own column") func whatWasDrawnTodayHasItsColumn() {
        var table = house
        table.setToday(["Lamp": 120, "Television": 1234.5])
        let lines = text(table, 100, 14)
        #expect(lines[0] == "3 plugs, 2 on, 1 away   69.4 W   1.35 kWh today")
        #expect(lines[4].contains("60.4 W    120 Wh") && lines[5].contains("9 W  1.23 kWh"))
    }

    @Test("Marks and bars use the characters that the terminal can show")
    func marksAndBarsAreOfTheTerminalsCharacters() {
        let rich = Capabilities(environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"], isTerminal: true)
        let lines = house.lines(size: TerminalSize(columns: 90, rows: 14), capabilities: rich).map(\.text)
        #expect(lines[4].contains("● on    ██░░░░  40 %"))
        #expect(lines[3].contains("· away"))
        #expect(lines.last == "↑ ↓ select   space toggle   + - dim   enter more   / find   s sort   q quit")
    }

    @Test("A narrow terminal keeps the most important columns") func aNarrowTerminalKeepsWhatMattersMost() {
        let lines = text(house, 34, 14)
        #expect(lines[4].hasPrefix("   Lamp") && lines[4].contains("* on") && lines[4].contains("60.4 W"))
        #expect(!lines[2].contains("Last minutes") && !lines[2].contains("Level"))
    }

    @Test("A plug that is not paired is marked") func aPlugThatIsNotPairedSaysSo() {
        var table = house
        let words = "the plug is not paired with this controller"
        table.handle(report(.disconnected(reason: .distrusted(words), retryIn: .zero), of: "Kettle"))
        #expect(text(table)[3].contains("? not paired"))
        table.handle(report(.disconnected(reason: .away("connection lost"), retryIn: .zero), of: "Kettle"))
        #expect(text(table)[3].contains(". away"))
    }

    @Test("A repeated connection failure with the same reason is not news") func aTryThatFailsAsTheLastDidIsNoNews() {
        var table = HouseTable()
        for words in ["refused\nhint: wait", "refused\nhint: wait", "connection lost"] {
            table.handle(report(.disconnected(reason: .away(words), retryIn: .zero), of: "Lamp"))
        }
        #expect(
            text(table).filter { $0.hasPrefix(clock) } == [
                "\(clock)  Lamp  disconnected: refused", "\(clock)  Lamp  disconnected: connection lost",
            ])
    }

    @Test("Keys find plugs by name, sort them by power, and show the values of the selected plug")
    func keys() {
        var table = house
        func isUsed(_ key: Key) -> Bool { table.handle(key) }
        func press(_ keys: [Key]) { for key in keys { #expect(isUsed(key)) } }
        press([.character("/"), .character("T"), .character("e"), .character("x"), .backspace])
        #expect(table.names == ["Television"])
        #expect(text(table).last == "/ Te   enter keep   esc all plugs")
        #expect(isUsed(.character("q")), "a letter of the filter")
        press([.backspace, .enter])
        #expect(table.names == ["Television"] && table.selected == "Television")
        #expect(text(table)[0].hasSuffix("only \"Te\""))
        #expect(!isUsed(.character("q")) && !isUsed(.interrupt))
        press([.escape, .character("s")])
        #expect(table.names == ["Lamp", "Television", "Kettle"])
        press([.enter])
        #expect(text(table, 80, 16).contains { $0.hasPrefix("Television: on, 9 W") })
        press([.down])
        #expect(text(table, 80, 16).contains { $0.hasPrefix("Kettle: not found yet") })
    }

    @Test("A click selects the plug of its row, and a second one shows its values")
    func clicks() throws {
        var table = house
        let size = TerminalSize(columns: 80, rows: 16)
        let row = try #require(text(table, 80, 16).firstIndex { $0.contains("Lamp") })
        table.click(row: row, size: size)
        #expect(table.selected == "Lamp")
        table.click(row: row, size: size)
        #expect(text(table, 80, 16).contains { $0.hasPrefix("Lamp: ") })
        for outside in [-1, 0, 2, 15, .max] { table.click(row: outside, size: size) }
        #expect(table.selected == "Lamp")
        var long = HouseTable()
        for number in 10..<60 { long.add("Plug \(number)") }
        long.select(by: 25)
        let last = text(long, 80, 12).count - 3
        let name = text(long, 80, 12)[last].dropFirst(3).prefix(7)
        long.click(row: last, size: TerminalSize(columns: 80, rows: 12))
        #expect(long.selected == String(name))
    }

    @Test("Paired plugs are listed as away until they are found, and under their new name after a rename")
    func pairedPlugsAreListed() {
        var table = HouseTable(paired: [description.id: "Lamp"])
        #expect(table.names == ["Lamp"] && table.selected == "Lamp")
        table.add("Lamp")
        table.remove("Lamp")
        #expect(text(table).contains { $0.contains("Lamp") && $0.contains("away") })
        table.handle(report(.connected(description), of: "Lounge"))
        #expect(table.names == ["Lounge"])
    }

    @Test("The table scrolls to the selected plug") func ofManyPlugsThoseAroundTheSelectedOneAreShown() {
        var table = HouseTable()
        for number in 10..<60 { table.add("Plug \(number)") }
        table.select(by: 25)
        let lines = text(table, 80, 12)
        #expect(lines.count == 12)
        #expect(lines[2].hasPrefix("   Plug"), "the titles are still shown")
        #expect(lines.contains { $0.hasPrefix(">  Plug 35") })
        table.select(by: 24)
        #expect(text(table, 80, 12).contains { $0.hasPrefix(">  Plug 59") })
        table.select(by: 1)
        #expect(text(table, 80, 12)[3].hasPrefix(">  Plug 10"))
    }

    @Test("A tripped plug is marked until it is reset") func aPlugThatTrippedSaysSoUntilItIsReset() {
        var table = house
        table.handle(report(.state(state(on: false, tripped: .overPower)), of: "Lamp"))
        #expect(text(table)[4].contains("Lamp        ! tripped"))
        table.handle(report(.state(state(on: false)), of: "Lamp"))
        #expect(text(table)[4].contains("Lamp        o off"))
    }

    @Test("On a terminal of 20 columns a row shows the state, and the name is truncated")
    func narrow() {
        var table = house
        table.add("Ceiling Light in the Hall")
        table.handle(report(.connected(description), of: "Ceiling Light in the Hall"))
        table.handle(report(.snapshot(state(on: true)), of: "Ceiling Light in the Hall"))
        let lines = table.lines(size: TerminalSize(columns: 20, rows: 20), capabilities: plain).map(\.text)
        #expect(lines.contains { $0.hasPrefix("   Ceiling ") && $0.contains("~  * on") }, "\(lines)")
    }

    @Test("The table never exceeds the size of the screen") func noMoreLinesThanTheScreenHas() {
        #expect(text(house, 80, 3).count == 3)
        #expect(text(house, 80, 0).isEmpty)
        #expect(text(house, 80, 12).contains("\(clock)  Television  on (button)"), "the newest line of news is shown")
        for columns in 1...100 {
            for rows in [1, 2, 4, 7, 20] {
                let lines = house.lines(size: TerminalSize(columns: columns, rows: rows), capabilities: plain)
                #expect(lines.count <= rows && lines.allSatisfy { $0.width <= columns })
            }
        }
    }

    @Test("The selection wraps around and survives the loss of a plug") func theSelectionGoesRoundAndSurvivesALoss() {
        var table = house
        #expect(table.selected == "Television", "the plug that was found first is selected")
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

    @Test("An absent plug shows no old values") func aPlugThatIsAwayShowsNothingOld() {
        var table = house
        table.handle(report(.disconnected(reason: .away("connection lost"), retryIn: .zero), of: "Lamp"))
        #expect(table.state(of: "Lamp") == nil)
        let row = text(table)[4]
        #expect(row.contains("Lamp") && row.contains("away") && !row.contains("W"))
    }

    @Test("The stored readings and news are limited") func whatIsKeptIsBounded() {
        var table = house
        for second in 0..<1000 {
            table.handle(report(.state(state(watts: 5, time: Double(second))), of: "Lamp"))
            table.say("line \(second)", at: moment)
        }
        #expect(table.rows["Lamp"]?.course.count == 120)
        #expect(text(table, 80, 1000).filter { $0.contains("  line ") }.count == 100)
    }
}
