import Testing

@testable import Charting

struct ChartSVGTests {
    @Test("At any width, the band from minimum to maximum includes every spike") func everySpikeIsInTheBand() throws {
        for width in stride(from: 200, through: 1600, by: 61) {
            var points = Sample.points(20_000, every: 1) { Double($0 % 10) }
            points[(width * 7919) % 20_000].value = 1000
            let chart = Chart(series: [Series(name: "S", unit: .watts, points: points)])
            let svg = chart.svg(width: width, height: 300)
            let band = try #require(svg.split(separator: "\n").first { $0.hasPrefix("<path class=\"band") })
            // The value 1000 is at the top of the plot, 38 pixels below the upper edge of the picture.
            #expect(band.contains(" 38L"))
        }
    }

    /// One hour of high power is visible in the chart of a year, also in a stack.
    @Test("The maximum of a summary is in the band") func theSpikeOfASummaryIsInTheBand() throws {
        let summaries = (0..<8760).map { hour in
            let from = Sample.start + Double(hour) * 3600
            return ChartSummary(
                from: from, to: from + 3600, covered: 3600, mean: 50, least: 40, greatest: hour == 5000 ? 2000 : 60)
        }
        let series = Series(name: "S", unit: .watts, summaries: summaries, points: [], gapLimit: 15)
        let svg = Chart(series: [series]).svg(width: 960, height: 300)
        #expect(try #require(svg.split(separator: "\n").first { $0.contains("class=\"band") }).contains(" 38L"))
        let other = Series(name: "T", unit: .watts, points: Sample.points(9, every: 900_000) { _ in 0 })
        let stack = Chart(series: [series, other], style: .stacked).svg(width: 960, height: 300)
        let peak = try #require(stack.split(separator: "\n").first { $0.contains("class=\"peak") })
        // The axis ends at the peak of 2000 W, so the peak is at the top of the plot.
        #expect(peak.contains(" 38L") || peak.contains(" 38Z"))
    }

    @Test("The curve is interrupted at a gap") func gapsBreakThePath() throws {
        let svg = Sample.gap.chart.svg(width: 720, height: 300)
        let curve = try #require(svg.split(separator: "\n").first { $0.hasPrefix("<path class=\"curve") })
        #expect(curve.count { $0 == "M" } == 2)
    }

    @Test("Markup in names is escaped") func hostileNamesAreText() {
        let name = "<script>alert(1)</script> & \"co\""
        let chart = Chart(
            title: name, series: [Series(name: name, unit: .watts, points: [])],
            marks: [ChartMark(time: 0.5, label: name)], spans: [ChartSpan(from: 0, to: 1, label: name)])
        let svg = chart.svg(width: 900, height: 300)
        #expect(!svg.contains("<script"))
        #expect(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot;"))
    }

    @Test("The SVG is well-formed at any size") func isWellFormedAtAnySize() {
        for sample in Sample.all {
            for (width, height) in [(1, 1), (0, -4), (90, 60), (160, 130), (720, 300), (3000, 1200)] {
                let svg = sample.chart.svg(width: width, height: height)
                #expect(svg.hasPrefix("<svg xmlns") && svg.hasSuffix("</svg>\n"))
                #expect(svg.count { $0 == "<" } == svg.count { $0 == ">" })
            }
        }
        #expect(Sample.year.chart.svg(width: 90, height: 60).contains("too small for a chart"))
    }
}
