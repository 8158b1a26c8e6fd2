import Testing

@testable import Charting

struct ChartSVGTests {
    @Test func everySpikeIsInThePath() throws {
        for width in stride(from: 200, through: 1600, by: 61) {
            var points = Sample.points(20_000, every: 1) { Double($0 % 10) }
            points[(width * 7919) % 20_000].value = 1000
            let chart = Chart(series: [Series(name: "S", unit: .watts, points: points)])
            let svg = chart.svg(width: width, height: 300)
            let curve = try #require(svg.split(separator: "\n").first { $0.hasPrefix("<path class=\"curve") })
            // The top of the plot, where the axis has its 1000, is at 30 pixels.
            #expect(curve.contains("V30.0"))
        }
    }

    @Test func gapsBreakThePath() throws {
        let svg = Sample.gap.chart.svg(width: 720, height: 300)
        let curve = try #require(svg.split(separator: "\n").first { $0.hasPrefix("<path class=\"curve") })
        #expect(curve.count { $0 == "M" } == 2)
    }

    @Test func hostileNamesAreText() {
        let name = "<script>alert(1)</script> & \"co\""
        let svg = Chart(title: name, series: [Series(name: name, unit: .watts, points: [])]).svg(
            width: 500, height: 300)
        #expect(!svg.contains("<script"))
        #expect(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot;"))
    }

    @Test func isWellFormedAtAnySize() {
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
