import ApplianceSense
import Foundation
import TestSupport
import Testing

@Suite struct ModelTests {
    private static let programmes: [ApplianceModel] = [
        .washingMachine, .lingeringWashingMachine, .dishwasher, .dryer,
    ]

    @Test(
        "Each cycle of a programme model is reported once, at most 1,210 s after its end",
        arguments: programmes, [3, 4, 5])
    func everyCycleIsFoundAndToldOnceAfterItsEnd(model: ApplianceModel, seed: Int) {
        let script = model.script(uses: 25, seed: UInt64(seed))
        let row = CycleMeasurement(model.rawValue, script.points, truth: script.cycles)
        #expect(row.sense.found == 25)
        #expect(row.sense.wrong == 0)
        #expect((row.sense.longestDelay ?? 0) <= 1_210)
    }

    @Test(
        "Each run of a refrigerator model is reported, with a median delay of at most 15 s", arguments: [3, 4, 5])
    func everyRunOfARefrigeratorIsFound(seed: Int) {
        let script = ApplianceModel.refrigerator.script(uses: 60, seed: UInt64(seed))
        let row = CycleMeasurement("", script.points, truth: script.cycles)
        #expect(row.sense.found == script.cycles.count)
        #expect(row.sense.wrong == 0)
        #expect((row.sense.medianDelay ?? 0) <= 15)
    }

    @Test("A television and a kettle have no cycles", arguments: [ApplianceModel.television, .kettle], [3, 4, 5])
    func whatEndsOnlyWhenSomebodyTurnsItOffHasNoCycles(model: ApplianceModel, seed: Int) {
        #expect(events(in: model.script(uses: 60, seed: UInt64(seed)).points) == [])
    }

    @Test(
        "Gaps in the samples affect only cycles whose end is in a gap", arguments: programmes)
    func holesCostAtMostTheCyclesWhoseEndTheyHide(model: ApplianceModel) {
        let script = model.script(uses: 60, seed: 3, holesADay: 6)
        let row = CycleMeasurement(model.rawValue, script.points, truth: script.cycles)
        #expect(row.sense.missed <= 3)
        #expect(row.sense.wrong == row.sense.missed)
        // Compared with the cycles that are visible in the samples, the detector misses none.
        let seen = CycleMeasurement(model.rawValue, script.points)
        #expect(seen.sense.missed == 0)
        #expect(seen.sense.wrong == 0)
    }

    @Test(
        "The reference analysis finds each start and end of the models' cycles to within 5 s",
        arguments: ApplianceModel.allCases)
    func theReferenceAnalysisFindsWhatTheModelsDid(model: ApplianceModel) {
        let script = model.script(uses: 30, seed: 9)
        let cycles = ReferenceAnalysis.cycles(in: script.points)
        #expect(cycles.count == script.cycles.count)
        for (found, made) in zip(cycles, script.cycles) {
            #expect(abs(found.lowerBound - made.lowerBound) <= 5_000)
            #expect(abs(found.upperBound - made.upperBound) <= 5_000)
        }
    }

    @Test("Each naive rule makes at least 25 wrong reports for 25 cycles of a dishwasher")
    func naiveRulesDoWorseWhichIsWhyThereIsADetector() {
        let script = ApplianceModel.dishwasher.script(uses: 25, seed: 3)
        let row = CycleMeasurement("", script.points, truth: script.cycles)
        #expect(row.naive.allSatisfy { $0.wrong >= 25 })
    }

    @Test("The document about appliance cycles has the current tables of the models")
    func theDocumentHoldsWhatTheModelsGive() throws {
        let document = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Documentation/explanation/appliance-cycles.md").standardized, encoding: .utf8)
        for table in CycleTable.models().text.split(separator: "\n\n") {
            #expect(document.contains(table), "run Scripts/cycles and update the document")
        }
    }
}
