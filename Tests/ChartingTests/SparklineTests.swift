import Charting
import Testing

struct SparklineTests {
    @Test("Each height has its own character") func showsEachHeight() {
        #expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], width: 8) == "▁▂▃▄▅▆▇█")
        #expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], width: 8, glyphs: .plain) == "_.-~=+*#")
    }

    @Test("The newest value is at the right") func newestStandsAtTheRight() {
        #expect(sparkline([0, 10], width: 5) == "   ▁█")
        #expect(sparkline([], width: 3) == "   ")
        #expect(sparkline([1], width: 0) == "")
    }

    @Test("Gaps and invalid numbers are blank") func gapsAndNonsenseAreBlank() {
        #expect(sparkline([5, nil, .nan, .infinity, 5], width: 5) == "█   █")
        #expect(sparkline([0, 0, 0], width: 3) == "▁▁▁")
        #expect(sparkline([-5, 0], width: 2) == "▁█")
    }

    @Test("The parameter `full` sets the value of the full height, and is ignored if it is not a number")
    func fullScaleIsShared() {
        #expect(sparkline([50], width: 1, full: 100) == "▅")
        #expect(sparkline([50], width: 1, full: .nan) == "█")
    }

    @Test("Spikes are visible at any width") func spikesSurviveAnyWidth() {
        for width in 1...60 {
            for spike in stride(from: 0, to: 600, by: 7) {
                var values = Array(repeating: Double?.some(1), count: 600)
                values[spike] = 900
                let line = sparkline(values, width: width)
                #expect(line.count == width && line.contains("█"))
            }
        }
    }
}
