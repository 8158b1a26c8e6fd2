import Terminal
import Testing

struct TableTests {
    private let table = Table(
        [
            .init("Plug", least: 6, importance: 3), .init("State", importance: 2),
            .init("Watts", .right, least: 5, importance: 4), .init("Cause", importance: 1),
        ],
        rows: [
            [StyledLine("Refrigerator"), StyledLine("on"), StyledLine("92.4"), StyledLine("power-on state")],
            [StyledLine("居間のランプ"), StyledLine("off"), StyledLine("0")],
        ])

    private func lines(_ width: Int?) -> [String] { table.lines(width: width).map(\.text) }

    @Test("Columns have the width of their content") func columnsAreAsWideAsTheirContent() {
        #expect(
            lines(nil) == [
                "Plug          State  Watts  Cause", "Refrigerator  on      92.4  power-on state",
                "居間のランプ  off        0  ",
            ])
    }

    @Test("In a narrow table the least important column is truncated, then removed")
    func leastImportantIsCutThenLeftOut() {
        #expect(lines(38)[1] == "Refrigerator  on      92.4  power-on …")
        #expect(lines(32)[1] == "Refrigerator  on      92.4  pow…")
        #expect(lines(13)[1] == "Refri…   92.4")
        #expect(lines(5)[1] == " 92.4")
        #expect(lines(2)[1] == "9…")
    }

    @Test("No line exceeds the width") func noLineIsWider() {
        for width in 0...50 {
            for line in table.lines(width: width) { #expect(line.width <= width) }
        }
    }

    @Test("Tables without columns or rows are valid") func emptyTables() {
        #expect(Table([]).lines(width: 10).map(\.text) == [""])
        #expect(Table([.init("Plug")]).lines(width: 10).map(\.text) == ["Plug"])
        #expect(Table([.init("Plug")], hasTitles: false).lines().isEmpty)
    }
}
