import Charting
import Checkout
import Foundation
import Testing

/// Compares charts with the files in Golden. `GOLDEN=write Scripts/test unit` writes them again; review the difference
/// before the commit.
struct GoldenTests {
    private static let folder = Checkout.place("Tests/ChartingTests/Golden")

    private func expect(_ output: String, equals name: String) throws {
        let file = GoldenTests.folder.appending(path: name)
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data(output.utf8).write(to: file)
        }
        let golden = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        #expect(output == golden, "\(name) differs; got:\n\(output)")
    }

    @Test("The text equals the golden file", arguments: Sample.all) func text(_ sample: Sample) throws {
        for (glyphs, ending) in [(ChartGlyphs.braille, "braille.txt"), (.plain, "plain.txt")] {
            let lines = sample.chart.text(columns: 78, rows: sample.rows, glyphs: glyphs)
            try expect(lines.map(\.text).joined(separator: "\n") + "\n", equals: "\(sample.name).\(ending)")
        }
    }

    @Test("The SVG equals the golden file", arguments: Sample.all) func svg(_ sample: Sample) throws {
        try expect(sample.chart.svg(width: 720, height: 300, theme: sample.theme), equals: "\(sample.name).svg")
    }
}
