import ApplianceSense
import Checkout
import Foundation
import Recordings
import TestSupport
import Testing

/// The folder of recordings. They are not part of the repository, so the tests are skipped if they are missing.
private let folder = Checkout.place("../shared/traces")

private let files =
    ((try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [])
    .filter { $0.lastPathComponent.hasSuffix(".csv.xz") }

@Suite(.enabled(if: !files.isEmpty, "the recordings are missing"))
struct RecordedCycleTests {
    private func points(_ name: String) throws -> [PowerScript.Point] {
        let file = try #require(files.first { $0.lastPathComponent.hasPrefix(name) })
        return try Recording.parse([UInt8](Data(contentsOf: file))).points.map { ($0.milliseconds, $0.deciwatts) }
    }

    @Test(
        "All cycles of a recording are reported, and no others",
        arguments: ["Amplifier", "LaundryDryer", "Playstation3", "Refrigerator", "TV-LCD", "Washingmachine"])
    func everyCycleIsFoundAndNoneIsToldWrongly(name: String) throws {
        for daysBefore in [0, 9] {
            let row = CycleMeasurement(name, try points(name), daysBefore: daysBefore)
            #expect(row.sense.missed == 0)
            #expect(row.sense.wrong == 0)
            if daysBefore == 9 { #expect((row.sense.longestDelay ?? 0) <= 90) }
        }
    }

    @Test("The recorded wash has its phases and 493 Wh") func theWashIsToldPhaseByPhase() throws {
        let cycle = try #require(ApplianceSense.cycles(in: try points("Washingmachine")).first)
        let names = cycle.phases.map(\.name)
        #expect(names.prefix(4) == [.tumbling, .heating, .tumbling, .spinning])
        #expect(names.last == .antiCrease)
        #expect(abs(cycle.milliwattHours - 492_649) < 1_000)
    }

    @Test("The recorded refrigerator has a duty of about 25 % and a period of about 52 minutes")
    func theRefrigeratorRunsAQuarterOfTheTime() throws {
        var sense = ApplianceSense()
        for point in try points("Refrigerator") { _ = sense.handle(point) }
        let compressor = try #require(sense.profile.compressor)
        #expect((0.22...0.28).contains(compressor.duty))
        #expect((3_000_000...3_300_000).contains(compressor.periodMilliseconds))
    }
}
