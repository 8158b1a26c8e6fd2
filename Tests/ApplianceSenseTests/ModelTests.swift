import ApplianceSense
import Checkout
import Foundation
import TestSupport
import Testing

@Suite struct ModelTests {
    private static let programmes = ApplianceModel.allCases.filter { !$0.isCompressor && !$0.hasNoCycles }
    private static let compressors = ApplianceModel.allCases.filter(\.isCompressor)

    @Test(
        "Each cycle of a programme model is reported once, at most 1,210 s after its end",
        arguments: programmes)
    func everyCycleIsFoundAndToldOnceAfterItsEnd(model: ApplianceModel) {
        let row = CycleMeasurement(model, seeds: 3...7, uses: 20)
        #expect(row.sense.missed == 0)
        #expect(row.sense.wrong == 0)
        #expect((row.sense.longestDelay ?? 0) <= 1_210)
        #expect((Score.median(row.sense.laterDelays) ?? 0) <= 120)
        #expect((Score.median(row.sense.firstDelays) ?? 0) <= 650)
    }

    @Test("Each end of a programme is reported as probable, at the latest when it is certain", arguments: programmes)
    func probable(model: ApplianceModel) {
        for seed in 3...5 as ClosedRange<UInt64> {
            var supposed: ApplianceCycle?
            for event in events(in: model.script(uses: 12, seed: seed).points) {
                switch event {
                case .probablyFinished(let cycle): supposed = cycle
                case .finished(let cycle): #expect(supposed?.start == cycle.start && supposed?.end == cycle.end)
                case .started, .phase, .resumed: break
                }
            }
        }
    }

    @Test(
        "The runs of a compressor are reported, the first ones with the second or third run", arguments: compressors)
    func everyRunOfARefrigeratorIsFound(model: ApplianceModel) {
        let row = CycleMeasurement(model, seeds: 13...17, uses: 40)
        #expect(row.sense.missed * 50 <= row.sense.trueCycles)
        #expect(row.sense.wrong == 0)
        #expect((Score.median(row.sense.laterDelays) ?? 0) <= 65)
        #expect((row.sense.cyclesBeforeReport ?? .max) <= (model == .twoCompressors ? 5 : 2))
    }

    @Test(
        "Appliances that neither end by themselves nor cool have no cycles",
        arguments: ApplianceModel.allCases.filter(\.hasNoCycles), [3, 4, 5])
    func whatEndsOnlyWhenSomebodyTurnsItOffHasNoCycles(model: ApplianceModel, seed: Int) {
        #expect(events(in: model.script(uses: 60, seed: UInt64(seed)).points) == [])
        #expect(events(in: model.script(uses: 60, seed: UInt64(seed), holesADay: 6).points) == [])
    }

    @Test("Gaps in the samples hide no cycle that is visible in the samples", arguments: programmes)
    func holesCostAtMostTheCyclesWhoseEndTheyHide(model: ApplianceModel) {
        let row = CycleMeasurement(model, seeds: 3...5, uses: 20, holesADay: 6)
        #expect(row.sense.missed == 0)
        #expect(row.sense.wrong <= 2)
    }

    @Test(
        "The reference analysis finds each start and end of the models' cycles to within 5 s",
        arguments: programmes + [.refrigerator, .television, .kettle])
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
            contentsOf: Checkout.place("Documentation/explanation/appliance-cycles.md"), encoding: .utf8)
        for table in CycleTable.models().text.split(separator: "\n\n") {
            #expect(document.contains(table), "run Scripts/cycles and update the document")
        }
    }
}
