import TestSupport
import Testing

@Suite("Examples that monitor an appliance")
struct ApplianceExampleTests {
    @Test(
        "The laundry example notifies once per wash, after its end",
        arguments: [ApplianceModel.washingMachine, .lingeringWashingMachine, .sleepyWashingMachine])
    func laundry(_ model: ApplianceModel) throws {
        let script = model.script(uses: 3, seed: 11)
        var house = try ExampleHouse("laundry.yaml")
        house.add("Washing Machine", on: true)
        for point in script.points {
            house.reads("Washing Machine", Double(point.deciwatts) / 10, at: Double(point.milliseconds) / 1000 + 1)
        }
        let told = house.log.filter { $0.hasSuffix("\"The washing machine is done.\"") }
        let times = told.compactMap { Int64($0.prefix { $0 != " " }) }
        #expect(script.cycles.count == 3 && times.count == 3, "\(house.log)")
        for (cycle, time) in zip(script.cycles, times) {
            // The rule notifies within 40 minutes after the end, because it first waits until the machine is idle.
            #expect(time * 1000 >= cycle.upperBound && time * 1000 < cycle.upperBound + 2_400_000)
        }
    }

    @Test("A refrigerator that cools as usual causes no notification", arguments: [UInt64(1), 2, 3])
    func closed(_ seed: UInt64) throws {
        var house = try ExampleHouse("refrigerator.yaml")
        house.add("Refrigerator", on: true)
        for point in ApplianceModel.refrigerator.script(uses: 40, seed: seed).points {
            house.reads("Refrigerator", Double(point.deciwatts) / 10, at: Double(point.milliseconds) / 1000 + 1)
        }
        #expect(house.log == [])
    }

    @Test("A refrigerator that cools for an hour without a pause causes one notification")
    func open() throws {
        var house = try ExampleHouse("refrigerator.yaml")
        house.add("Refrigerator", on: true)
        house.draws("Refrigerator", 0, from: 1, to: 600)
        house.draws("Refrigerator", 130, from: 600, to: 20_000)
        #expect(house.log.count == 2)
        #expect(house.log.map { $0.prefix { $0 != " " } } == ["4200", "4200"])
        #expect(house.log.last?.contains("Is the door open?") == true)
    }
}
