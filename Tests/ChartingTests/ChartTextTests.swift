import Testing

@testable import Charting

struct ChartTextTests {
    private static let start = Sample.start

    private func noise(_ seed: UInt64, count: Int) -> [ChartPoint] {
        var state = seed
        return (0..<count).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return ChartPoint(time: Self.start + Double(index), value: Double(state >> 40) / 1_000_000)
        }
    }

    /// One of 5,000 samples is a spike. Its cell must not be blank, whatever its position and the width of the chart.
    @Test("Every spike is visible at every width", arguments: [ChartGlyphs.braille, .plain])
    func everySpikeIsVisibleAtEveryWidth(_ glyphs: ChartGlyphs) throws {
        for columns in 20...140 {
            let spike = (columns * 7919) % 5000
            var points = noise(UInt64(columns), count: 5000)
            points[spike].value = 1000
            let series = Series(name: "Kettle", unit: .watts, points: points)
            let lines = Chart(series: [series]).text(columns: columns, rows: 12, glyphs: glyphs).map { Array($0.text) }
            // The axis is in the same column of each line. The line with "1000" is the top of the plot.
            let row = try #require(lines.indices.first { String(lines[$0]).contains("1000 ") })
            let axis = try #require(lines[row].firstIndex { $0 == glyphs.valueTick })
            let width = columns - axis - 1
            let column = axis + 1 + min(spike * width / 4999, width - 1)
            #expect(lines[row][column] != " ", "spike \(spike) at \(columns) columns")
        }
    }

    /// If several curves overlap, the spike of each is still visible.
    @Test("Spikes of several series are visible") func spikesOfSeveralSeriesAreVisible() throws {
        for columns in 40...100 {
            let series = (0..<4).map { index in
                var points = noise(UInt64(index), count: 2000)
                points[300 + index * 400].value = 1000
                return Series(name: "Plug \(index)", unit: .watts, points: points)
            }
            for glyphs in [ChartGlyphs.braille, .plain] {
                let lines = Chart(series: series).text(columns: columns, rows: 14, glyphs: glyphs).map {
                    Array($0.text)
                }
                let row = try #require(lines.indices.first { String(lines[$0]).contains("1000 ") })
                let axis = try #require(lines[row].firstIndex { $0 == glyphs.valueTick })
                let width = columns - axis - 1
                for index in 0..<4 {
                    let column = axis + 1 + (300 + index * 400) * width / 1999
                    #expect(lines[row][column] != " ")
                }
            }
        }
    }

    /// In a stack the sum is at the top, and a layer without data is absent.
    @Test("Stacked layers add up, and a layer without data is absent") func layersAddUp() {
        func series(_ name: String, _ value: Double, _ range: Range<Int>) -> Series {
            let points = Sample.points(600, every: 1) { _ in value }
            return Series(name: name, unit: .watts, points: Array(points[range]), gapLimit: 15)
        }
        let chart = Chart(
            series: [series("S", 100, 0..<600), series("T", 50, 300..<600)], style: .stacked,
            window: ChartWindow(from: Sample.start, to: Sample.start + 600))
        let layers = Layers(chart, columns: 60)
        #expect(layers.peaks[10] == 100 && layers.peaks[50] == 150)
        #expect(layers.slices[1][10] == nil && layers.slices[1][50] == Layers.Slice(bottom: 100, top: 150))
    }

    @Test("Values below zero are stacked downward, and the axis includes them")
    func negativeLayers() {
        func series(_ name: String, _ value: Double) -> Series {
            Series(name: name, unit: .watts, points: Sample.points(600, every: 1) { _ in value }, gapLimit: 15)
        }
        let chart = Chart(
            series: [series("House", 100), series("Roof", -200), series("Balcony", -50), series("Pump", 20)],
            style: .stacked, window: ChartWindow(from: Sample.start, to: Sample.start + 600))
        let layers = Layers(chart, columns: 60)
        #expect(layers.slices[1][10] == Layers.Slice(bottom: 0, top: -200))
        #expect(layers.slices[2][10] == Layers.Slice(bottom: -200, top: -250))
        #expect(layers.slices[3][10] == Layers.Slice(bottom: 100, top: 120))
        #expect(layers.peaks[10] == 120 && layers.height(10) == 120 && layers.range == -250...120)
        #expect(ChartLayout(chart, columns: 60, intervals: 5).axis.lower <= -250)
        #expect(chart.text(columns: 80, rows: 24).contains { $0.text.contains("-200") })
    }

    @Test("The legend of many series leaves about half of the rows to the plot")
    func manySeries() {
        let series = (1...26).map { number in
            Series(name: "Plug \(number)", unit: .watts, points: Sample.points(60, every: 10) { _ in Double(number) })
        }
        let chart = Chart(title: String(repeating: "電気 ", count: 60), series: series)
        let lines = chart.text(columns: 80, rows: 24).map(\.text)
        #expect(lines.count { $0.contains("│") || $0.contains("┤") } == 11)
        #expect(lines.last?.hasPrefix("and 17 more") == true)
        let picture = chart.svg(width: 800, height: 400)
        #expect(!picture.contains("too small") && picture.contains("more</text>"))
        #expect(
            picture.components(separatedBy: "<path class=\"curve c0\"").count == 2 && picture.contains("curve c25\""))
        let fills = picture.matches(of: /\.s\d+\{fill:(#[0-9a-f]+)/).map(\.output.1)
        #expect(Set(fills.prefix(26)).count == 26)
        // The title is truncated, with the date next to it.
        #expect(picture.contains("…</text>") && picture.contains(TimeAxis.caption(chart.window, zone: chart.zone)))
    }

    @Test("Every line has exactly the requested width") func everyLineHasExactlyTheWidthAskedFor() {
        for (index, sample) in Sample.all.enumerated() {
            for columns in stride(from: 1 + index % 4, through: 130, by: 4) {
                for rows in [1, 2, 4, 5, 6, 7, 9, 16, 40] {
                    for glyphs in [ChartGlyphs.braille, .plain] {
                        let lines = sample.chart.text(columns: columns, rows: rows, glyphs: glyphs)
                        #expect(lines.count == rows)
                        #expect(lines.allSatisfy { $0.text.count == columns }, "\(sample.name) \(columns) × \(rows)")
                    }
                }
            }
        }
    }

    @Test("The width of a line counts each character with its width in the terminal")
    func widthsAreThoseTheTerminalTells() {
        func width(_ character: Character) -> Int { character.isASCII || "…".contains(character) ? 1 : 2 }
        let series = Series(name: "居間のランプ", unit: .watts, points: Sample.points(60, every: 1) { Double($0) })
        for columns in 20...90 {
            let chart = Chart(title: "居間の電力", series: [series])
            for line in chart.text(columns: columns, rows: 10, glyphs: .plain, characterWidth: width) {
                #expect(line.text.reduce(0) { $0 + width($1) } == columns)
            }
        }
    }

    @Test("Plain text is ASCII") func plainIsASCII() {
        for sample in Sample.all {
            for line in sample.chart.text(columns: 60, rows: 14, glyphs: .plain) {
                #expect(line.text.allSatisfy { $0.isASCII })
            }
        }
    }

    @Test("Tiny sizes show a remark instead of a chart") func tinySizesSaySo() {
        let lines = Sample.refrigerator.chart.text(columns: 24, rows: 3).map(\.text)
        #expect(
            lines == [String(repeating: " ", count: 24), "too small for a chart   ", String(repeating: " ", count: 24)])
        #expect(Sample.refrigerator.chart.text(columns: 4, rows: 1).map(\.text) == ["too…"])
        #expect(Sample.refrigerator.chart.text(columns: 0, rows: 2).map(\.text) == ["", ""])
        #expect(Sample.refrigerator.chart.text(columns: 10, rows: 0).isEmpty)
        #expect(Sample.refrigerator.chart.text(columns: -3, rows: -1).isEmpty)
    }

    @Test("A gap is blank, without a line and without zeros") func gapIsNeitherLineNorZero() {
        let lines = Sample.gap.chart.text(columns: 78, rows: 16, glyphs: .plain).map { Array($0.text) }
        // The points from 200 to 330 s of 600 are missing. The plot has 72 columns and begins at column 6, so the
        // tested columns show 216 to 325 s.
        for column in (6 + 26)...(6 + 38) {
            for row in 1...12 { #expect(lines[row][column] == " ") }
        }
    }

    @Test("Each series is marked with its letter") func eachSeriesBearsItsLetter() {
        for glyphs in [ChartGlyphs.braille, .plain] {
            let lines = Sample.evening.chart.text(columns: 78, rows: 16, glyphs: glyphs).map(\.text)
            for letter in ["A", "B", "C"] {
                #expect(lines[1...9].contains { $0.contains(letter) })
                #expect(lines.suffix(3).contains { $0.hasPrefix(letter + " ") })
            }
        }
    }

    @Test("A long legend is truncated") func manySeriesShareTheLegendThatFits() {
        let series = (0..<30).map {
            Series(name: "Plug \($0)", unit: .watts, points: Sample.points(9, every: 1) { Double($0) })
        }
        let lines = Chart(series: series).text(columns: 60, rows: 12).map(\.text)
        #expect(lines.count == 12)
        #expect(lines[11].hasPrefix("and 27 more"))
    }

    @Test("Control characters in names are removed") func namesCannotCarryControlCharacters() {
        let hostile = "Lamp\u{1B}[2J\u{202E}\n\u{9B}31m"
        let chart = Chart(title: hostile, series: [Series(name: hostile, unit: .watts, points: [])])
        let output = chart.text(columns: 70, rows: 10).map(\.text).joined() + chart.svg(width: 400, height: 300)
        #expect(!output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7F..<0xA0).contains($0.value) })
        #expect(!output.unicodeScalars.contains("\u{202E}"))
    }
}
