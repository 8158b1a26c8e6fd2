import HouseCalendar
import Testing

@testable import Charting

struct LayoutTests {
    private static let axes: [(low: Double, high: Double, intervals: Int, labels: [String])] = [
        (0.0, 151.0, 5, ["0", "50", "100", "150", "200"]),
        (0.0, 2150.0, 5, ["0", "500", "1000", "1500", "2000", "2500"]),
        (-300.0, 0.0, 3, ["-300", "-200", "-100", "0"]),
        (-7.0, 9.0, 1, ["-20", "0", "20"]),
        (228.1, 231.9, 4, ["228", "229", "230", "231", "232"]),
        (0.0, 0.04, 2, ["0", "20", "40"]),
        (0.0, 0.3, 3, ["0.0", "0.1", "0.2", "0.3"]),
        (0.0, 24_000.0, 3, ["0", "10", "20", "30"]),
    ]

    @Test("Value ticks are round numbers and include the range", arguments: axes)
    func ticksAreRound(low: Double, high: Double, intervals: Int, labels: [String]) {
        let axis = ValueAxis(showing: low...high, fromZero: false, unit: .watts, intervals: intervals)
        #expect(axis.labels == labels)
        #expect(axis.lower <= low && axis.upper >= high)
    }

    @Test("The unit of an axis gets a prefix for small or large values, but not for percent") func axisPrefixes() {
        func unit(_ high: Double, _ unit: ChartUnit = .watts) -> String {
            ValueAxis(showing: 0...high, fromZero: true, unit: unit, intervals: 4).unit
        }
        #expect(unit(0.05) == "mW")
        #expect(unit(2200) == "W")
        #expect(unit(12_000) == "kW")
        #expect(unit(90_000, .percent) == "%")
    }

    @Test("Values are formatted with units and rounding") func valuesInWords() {
        #expect(ChartUnit.watts.text(118.3) == "118.3 W")
        #expect(ChartUnit.watts.text(2150.4) == "2150 W")
        #expect(ChartUnit.watts.text(12_400) == "12.4 kW")
        #expect(ChartUnit.watts.text(0) == "0 W")
        #expect(ChartUnit.watts.text(-0.0001) == "-0.1 mW")
        #expect(ChartUnit.amperes.text(0.043) == "43 mA")
        #expect(ChartUnit.percent.text(50) == "50 %")
        #expect(fixed(-0.04, decimals: 1) == "0.0")
        #expect(fixed(2.5, decimals: 0) == "3")
        #expect(fixed(-12.345, decimals: 2) == "-12.35")
    }

    /// Any input results in valid numbers and does not trap.
    @Test("Invalid and extreme numbers result in an output without NaN or infinity") func hostileNumbers() {
        let values: [Double] = [
            .nan, .infinity, -.infinity, 0, -0.0, 1e308, -1e308, .leastNonzeroMagnitude, 1e15, -1e15, 1e-7, 230,
            .greatestFiniteMagnitude,
        ]
        let times: [Double] = [.nan, -.infinity, .infinity, 0, -1e12, 1e12, 1.8e9, 1.8e9, 1.8e9 + 1e-7, 1e300]
        var random = Lehmer(state: 42)
        for round in 0..<400 {
            let points = (0..<(round % 7)).map { _ in
                ChartPoint(time: times.randomElement(using: &random)!, value: values.randomElement(using: &random)!)
            }
            let window =
                round % 3 == 0
                ? nil
                : ChartWindow(from: times.randomElement(using: &random)!, to: times.randomElement(using: &random)!)
            func time() -> Double { times.randomElement(using: &random)! }
            func value() -> Double { values.randomElement(using: &random)! }
            let summaries = (0..<(round % 4)).map { _ in
                ChartSummary(
                    from: time(), to: time(), covered: value(), mean: value(), least: value(), greatest: value())
            }
            let line = Series(
                name: "S", unit: .watts, summaries: summaries, points: points,
                gapLimit: round % 2 == 0 ? 10 : .infinity)
            let bars = (0..<(round % 3)).map { _ in
                ChartBar(from: time(), to: time(), value: value(), estimated: value())
            }
            let chart = Chart(
                title: "T", series: [line, round % 7 == 0 ? Series(name: "B", unit: .watts, bars: bars) : line],
                style: round % 3 == 0 ? .stacked : .overlaid,
                marks: (0..<(round % 12)).map { ChartMark(time: time(), label: "\($0)") },
                spans: (0..<(round % 5)).map { ChartSpan(from: time(), to: time(), label: "\($0)") },
                window: window, startsAtZero: round % 5 != 0)
            let text = chart.text(columns: 70, rows: 12).map(\.text).joined() + chart.svg(width: 300, height: 200)
            #expect(!text.contains("nan") && !text.contains("inf"), "\(points)")
        }
    }

    @Test("The axis of a constant series has a margin") func constantSeriesHasRoomAroundIt() {
        let axis = ValueAxis(showing: 230...230, fromZero: false, unit: .volts, intervals: 4)
        #expect(axis.lower < 230 && axis.upper > 230)
        let zero = ValueAxis(showing: 0...0, fromZero: true, unit: .watts, intervals: 4)
        #expect(zero.lower == 0 && zero.upper == 1)
    }

    private static let spans: [(length: Double, first: String, second: String)] = [
        (60.0, "11:00:00", "11:00:10"), (300.0, "11:00", "11:01"), (3600.0, "11:00", "11:10"),
        (21_600.0, "11:00", "12:00"), (108_000.0, "12:00", "18:00"), (864_000.0, "23 Nov", "25 Nov"),
        (25_920_000.0, "Jan 2027", "Apr 2027"),
    ]

    @Test("Time ticks are round times", arguments: spans)
    func timeTicksAreRound(length: Double, first: String, second: String) {
        let window = ChartWindow(from: Sample.start, to: Sample.start + length)
        let labels = TimeAxis(window: window, zone: .utc, length: 66).ticks.map(\.label)
        #expect(Array(labels.prefix(2)) == [first, second])
    }

    @Test("Time labels never touch") func timeLabelsNeverTouch() {
        for exponent in stride(from: 0.0, to: 30, by: 0.37) {
            var length = 1.0
            for _ in 0..<Int(exponent * 2) { length *= 1.41 }
            let window = ChartWindow(from: Sample.start, to: Sample.start + length)
            for columns in [12.0, 30, 70, 200] {
                let axis = TimeAxis(window: window, zone: Sample.centralEurope, length: columns)
                for (left, right) in zip(axis.ticks, axis.ticks.dropFirst()) {
                    let distance = (right.time - left.time) / window.length * columns
                    #expect(distance >= Double(left.label.count + right.label.count) / 2 + 1)
                }
            }
        }
    }

    /// The time at which the clocks of Central Europe are set back, so that the hour from 2:00 is repeated.
    private static let setBack = 1_792_890_000.0
    private static let autumn = ZoneOffsets(initial: 7200, transitions: [.init(time: setBack, seconds: 3600)])

    @Test("Time labels do not touch in the repeated hour") func timeLabelsDoNotTouchWhereAnHourComesTwice() {
        for hours in stride(from: 2.0, to: 80, by: 1.3) {
            let window = ChartWindow(from: Self.setBack - hours * 1800, to: Self.setBack + hours * 1800)
            for columns in [30.0, 70, 110, 200] {
                let ticks = TimeAxis(window: window, zone: Self.autumn, length: columns).ticks
                for (left, right) in zip(ticks, ticks.dropFirst()) {
                    let distance = (right.time - left.time) / window.length * columns
                    #expect(distance >= Double(left.label.count + right.label.count) / 2 + 1, "\(hours) \(columns)")
                }
            }
        }
    }

    @Test("The time axis has the label of a day even if the day has no bar") func aBarThatIsMissingLeavesItsLabel() {
        func bars(_ days: [Int]) -> [ChartBar] {
            days.map { ChartBar(from: Double($0) * 86_400, to: Double($0 + 1) * 86_400, value: 100, estimated: 0) }
        }
        func labels(_ first: [Int], _ second: [Int]) -> [String] {
            let series = [
                Series(name: "A", unit: .wattHours, bars: bars(first)),
                Series(name: "B", unit: .wattHours, bars: bars(second)),
            ]
            let chart = Chart(series: series, window: ChartWindow(from: 0, to: 8 * 86_400))
            return chart.timeTicks(length: 100).map(\.label)
        }
        let all = labels(Array(0..<8), Array(0..<8))
        #expect(all.count == 8)
        #expect(labels(Array(0..<8), []) == all && labels([0, 1, 6], []) == all && labels([3], [5]) == all)
    }

    @Test("A span shows its complete label, its short label or none") func aSpanSaysItsWordsWholeOrNotAtAll() {
        let span = ChartSpan(from: 0, to: 1, label: "programme 673 Wh", shortLabel: "673 Wh")
        #expect((0...20).map { span.words(within: $0) ?? "" }.uniqued() == ["", "673 Wh", "programme 673 Wh"])
        #expect(ChartSpan(from: 0, to: 1, label: "46 Wh").words(within: 4) == nil)
        let chart = Chart(
            series: [
                Series(
                    name: "A", unit: .watts, points: [ChartPoint(time: 0, value: 1), ChartPoint(time: 1000, value: 1)])
            ],
            spans: (0..<40).map { ChartSpan(from: Double($0) * 25, to: Double($0) * 25 + 20, label: "46 Wh") },
            window: ChartWindow(from: 0, to: 1000))
        for width in stride(from: 200, through: 3000, by: 50) {
            #expect(!chart.svg(width: width, height: 300).contains("…"))
        }
    }

    /// The unit, the letters of lanes and the labels of the axis share one column. The text is ten pixels high,
    /// including descenders.
    @Test("Labels next to the axis do not overlap", arguments: [0, 1, 2, 3])
    func whatStandsBesideTheAxisDoesNotOverlap(marks: Int) throws {
        for count in 1...3 {
            let series = (0..<count).map {
                Series(
                    name: "\($0)", unit: .watts,
                    points: [ChartPoint(time: 0, value: 1), ChartPoint(time: 100, value: 9)])
            }
            let chart = Chart(
                series: series, style: .stacked, marks: (0..<marks).map { ChartMark(time: Double($0), label: "\($0)") },
                spans: (0..<count).map { ChartSpan(from: 10, to: 50, label: "wash", series: $0) },
                window: ChartWindow(from: 0, to: 100))
            let svg = chart.svg(width: 700, height: 400)
            let text = try Regex(
                #"<text class="label end[^>]*?( dy="4")? x="([0-9]+)" y="([0-9.]+)""#,
                as: (Substring, Substring?, Substring, Substring).self)
            let lines = try svg.matches(of: text).map { match in
                (
                    x: try #require(Int(match.output.2)),
                    y: try #require(Double(match.output.3)) + (match.output.1 == nil ? 0 : 4)
                )
            }.filter { $0.x < 200 }
            #expect(lines.count >= 3)
            for (index, line) in lines.enumerated() {
                for other in lines.dropFirst(index + 1) { #expect(abs(line.y - other.y) >= 11, "\(line) \(other)") }
            }
        }
    }

    @Test("Midnight ticks follow the time zone") func midnightFollowsTheZone() {
        let (change, zone) = (Self.setBack, Self.autumn)
        let window = ChartWindow(from: change - 2 * 86_400, to: change + 2 * 86_400)
        let ticks = TimeAxis(window: window, zone: zone, length: 50).ticks
        #expect(ticks.map(\.label) == ["24 Oct", "25 Oct", "26 Oct", "27 Oct"])
        // The day on which the clocks go back has 25 hours.
        #expect(zip(ticks, ticks.dropFirst()).map { $1.time - $0.time } == [86_400, 90_000, 86_400])
    }

    @Test("Statistics are weighted by time and exclude gaps") func statisticsWeighByTimeAndLeaveGapsOut() throws {
        let measured: [(Double, Double)] = [(0, 100), (1, 100), (2, 100), (102, 0), (112, 0)]
        let points = measured.map { ChartPoint(time: $0.0, value: $0.1) }
        let series = Series(name: "S", unit: .watts, points: points, gapLimit: 20)
        let figures = try #require(Statistics(of: series, in: ChartWindow(covering: [series])))
        #expect(figures.gaps == 1)
        #expect(figures.mean == 100.0 * 2 / 12)
        #expect(figures.last == 0 && figures.least == 0 && figures.greatest == 100)
        #expect(Statistics(of: series, in: ChartWindow(from: 20, to: 30)) == nil)
    }

    @Test("The tenth and all further kinds of marks share a sign") func tenthKindsOfMarksShareASign() {
        let marks = (0..<30).map { ChartMark(time: Double(100 - $0), label: "kind \($0 % 12)") }
        let table = MarkTable(marks, in: ChartWindow(from: 0, to: 100))
        #expect(table.entries.map(\.sign) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*"])
        #expect(table.entries.reduce(0) { $0 + $1.count } == 30)
        #expect(table.entries[0].text == "1 kind 5 ×3")
        #expect(MarkTable(marks, in: ChartWindow(from: 0, to: 70)).marks.isEmpty)
    }

    @Test("Overlapping spans, and spans of different series, are placed in separate lanes")
    func spansThatOverlapStandInLanes() {
        let spans = [(0.0, 10.0), (2, 4), (3, 5), (3, 4), (5, 6), (20, 30)].map {
            ChartSpan(from: $0.0, to: $0.1, label: "\($0.0)")
        }
        let lanes = SpanLanes(spans, in: ChartWindow(from: 0, to: 15)).lanes
        #expect(lanes.map { $0.map(\.from) } == [[0], [2, 5], [3], [3]])
        let owned = [(0.0, 1), (1, 0), (3, 1), (4, 0)].map {
            ChartSpan(from: $0.0, to: $0.0 + 1, label: "", series: $0.1)
        }
        #expect(SpanLanes(owned, in: ChartWindow(from: 0, to: 15)).lanes.map { $0.map(\.from) } == [[1, 4], [0, 3]])
    }

    /// Points within a summary are dropped, so that they are not drawn or counted twice.
    @Test("Summaries have priority over points") func summariesComeBeforePoints() throws {
        let summaries = [
            ChartSummary(from: 60, to: 120, covered: 60, mean: 10, least: 5, greatest: 20),
            ChartSummary(from: 0, to: 60, covered: 30, mean: 40, least: 30, greatest: 50),
        ]
        let points = [100.0, 125, 130].map { ChartPoint(time: $0, value: 1) }
        let series = Series(name: "S", unit: .watts, summaries: summaries, points: points, gapLimit: 15)
        #expect(series.points.map(\.time) == [125, 130])
        let figures = try #require(Statistics(of: series, in: ChartWindow(from: 0, to: 200)))
        #expect((figures.least, figures.greatest, figures.last, figures.gaps) == (1, 50, 1, 0))
        // The mean is that of 30 s at 40 W, 60 s at 10 W and 5 s at 1 W.
        #expect(abs(figures.mean - (1200 + 600 + 5) / 95) < 1e-9)
    }

    @Test("Unsorted points are sorted") func unsortedPointsAreSorted() {
        let series = Series(name: "S", unit: .watts, points: [3.0, 1, .nan, 2].map { ChartPoint(time: $0, value: $0) })
        #expect(series.points.map(\.time) == [1, 2, 3])
    }

    /// A line that enters the window from outside is drawn from the edge.
    @Test("Lines enter and leave the window at its edges") func linesEnterAndLeaveTheWindow() {
        let points = [ChartPoint(time: 0, value: 0), ChartPoint(time: 100, value: 100)]
        let joined = Series(name: "S", unit: .watts, points: points)
        let inside = Envelope(of: joined, in: ChartWindow(from: 40, to: 60), columns: 10)
        #expect(inside.columns.map(\.index) == [0, 9])
        #expect(inside.columns.map(\.first) == [40, 60])
        #expect(inside.columns.map(\.isJoined) == [false, true])
        let broken = Series(name: "S", unit: .watts, points: points, gapLimit: 99)
        #expect(Envelope(of: broken, in: ChartWindow(from: 40, to: 60), columns: 10).columns.isEmpty)
    }
}

/// A small seeded generator, so that failures are reproducible.
struct Lehmer: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

extension [String] {
    fileprivate func uniqued() -> [String] {
        reduce(into: []) { found, word in if found.last != word { found.append(word) } }
    }
}
