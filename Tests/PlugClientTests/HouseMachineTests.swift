import Testing

@testable import PlugClient

@Suite struct HouseMachineTests {
    private static let seeds: UInt64 = 400

    private func faults(_ run: (UInt64, inout HouseSimulation) -> Void) -> [String] {
        var delivered = 0
        for seed in 0..<Self.seeds {
            var house = HouseSimulation(seed: seed)
            run(seed, &house)
            delivered += house.delivered
            if !house.faults.isEmpty { return ["seed \(seed)"] + house.faults.prefix(5) }
        }
        return delivered > Int(Self.seeds) ? [] : ["only \(delivered) events were delivered"]
    }

    @Test("After any changes of names and connections, each plug has one follower and the name of its pairing")
    func settles() {
        #expect(
            faults { seed, house in
                for _ in 0..<400 { house.step() }
                house.settle(renaming: seed.isMultiple(of: 2))
            } == [])
    }

    @Test("A stop at any moment releases all followers and finishes")
    func stops() {
        #expect(
            faults { seed, house in
                for _ in 0..<(seed % 200) { house.step() }
                house.stop()
            } == [])
    }
}
