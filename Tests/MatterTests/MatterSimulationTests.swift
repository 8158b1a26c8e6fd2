import Foundation
import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport
import Testing

/// The seeds of a simulation. SMARTPLUG_SEEDS sets their number.
enum MatterSeeds {
    static func sampled(_ count: UInt64) -> ClosedRange<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["SMARTPLUG_SEEDS"].flatMap(UInt64.init)
        return 1...max(1, wanted ?? count)
    }
}

/// Simulates commissionings on a link that is cut, with flash that fails, and losses of power.
@Suite struct MatterSimulationTests {
    /// The state that a commissioning must change completely or not at all: the fabrics with their nodes.
    private struct Fabrics: Equatable, CustomStringConvertible {
        var entries: [String]
        init(_ plug: SimulatedMatterPlug) {
            entries = plug.device.fabrics.map { "\($0.index): node \($0.nodeID) of \($0.fabricID), \($0.label)" }
        }
        var description: String { entries.joined(separator: "; ") }
    }

    @Test(
        "A cut and a loss of power leave the device commissioned or unchanged, and the next commissioning succeeds",
        arguments: MatterSeeds.sampled(60))
    func interruptedCommissioning(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var house = try SimulatedMatterHouse(seed: seed)
        if random.chance(0.5) {
            let first = try house.addFabric()
            try house.perform(first, .commission(passcode: MatterSetup.passcode))
            house.run(.seconds(5))
            house.openWindow()
        }
        let before = Fabrics(house.plug)
        let controller = try house.addFabric()
        house.interrupt(&random)
        let result = Result { try house.perform(controller, .commission(passcode: MatterSetup.passcode)) }
        house.faults = .none
        house.run(.seconds(1))
        if house.plug.isOff { try house.restartPlug() }
        house.plug.flash.fates = []
        // The fail-safe of the interrupted commissioning expires.
        house.run(.seconds(200))
        let after = Fabrics(house.plug)
        if case .success = result {
            #expect(after.entries.count == before.entries.count + 1, "seed \(seed): \(before) became \(after)")
        }
        #expect(after.entries.starts(with: before.entries), "seed \(seed): \(before) became \(after)")
        #expect(after.entries.count <= before.entries.count + 1, "seed \(seed): \(before) became \(after)")
        try house.restartPlug()
        #expect(Fabrics(house.plug) == after, "seed \(seed): flash differs from the machine: \(result)")
        if after == before {
            house.openWindow()
            try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        } else {
            try house.perform(controller, .connect)
        }
        #expect(try house.isOn(controller) == false, "seed \(seed)")
        try house.commissionAnother()
        #expect(house.plug.device.fabrics.count == before.entries.count + 2, "seed \(seed)")
        house.check()
    }

    /// Checks that the interruptions of the test above reach all results. Otherwise it would test nothing.
    @Test("Interrupted commissionings succeed, fail before the commit, and fail after it") func allResults() throws {
        var results: [String: Int] = [:]
        for seed in 1...120 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var house = try SimulatedMatterHouse(seed: seed)
            let controller = try house.addFabric()
            house.interrupt(&random)
            let result = Result { try house.perform(controller, .commission(passcode: MatterSetup.passcode)) }
            let wasOff = house.plug.isOff
            if wasOff { try house.restartPlug() }
            house.plug.flash.fates = []
            house.run(.seconds(200))
            let isCommissioned = !house.plug.device.fabrics.isEmpty
            let ending = if case .success = result { "success" } else { wasOff ? "power" : "cut" }
            results["\(ending), \(isCommissioned ? "commissioned" : "unchanged")", default: 0] += 1
        }
        for name in [
            "success, commissioned", "power, unchanged", "power, commissioned", "cut, unchanged", "cut, commissioned",
        ] {
            #expect(results[name, default: 0] > 0, "\(name): \(results)")
        }
        #expect(results["success, unchanged"] == nil, "\(results)")
    }

    @Test("Commissionings succeed on a link that loses and reorders datagrams") func badLink() throws {
        var successes = 0
        for seed in 1...30 as ClosedRange<UInt64> {
            var house = try SimulatedMatterHouse(seed: seed, faults: .bad)
            let controller = try house.addFabric()
            if (try? house.perform(controller, .commission(passcode: MatterSetup.passcode))) != nil { successes += 1 }
            house.check()
        }
        #expect(successes > 8, "\(successes) of 30")
    }

    @Test("Without a window, a commissioning is refused", arguments: MatterSeeds.sampled(3))
    func closedWindow(_ seed: UInt64) throws {
        var house = try SimulatedMatterHouse(seed: seed, opensWindow: false)
        let controller = try house.addFabric()
        #expect(throws: MatterControllerFault.self) {
            try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        }
        #expect(house.plug.device.fabrics.isEmpty)
    }

    @Test("An operational certificate of an intermediate authority is accepted", arguments: MatterSeeds.sampled(3))
    func intermediateAuthority(_ seed: UInt64) throws {
        var house = try SimulatedMatterHouse(seed: seed)
        let issuer = try MatterCertificateIssuer(fabric: 77, seed: seed, hasIntermediate: true)
        let controller = try house.add(issuer)
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        #expect(try house.isOn(controller) == false)
    }

    @Test("Event numbers and nonces do not repeat after losses of power", arguments: MatterSeeds.sampled(10))
    func numbersAcrossRestarts(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var house = try SimulatedMatterHouse(seed: seed)
        let controller = try house.addFabric()
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        var numbers: [UInt64: EventData] = [:]
        var highest: UInt64 = 0
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                house.changePlug { $0.press(now: $1) }
                house.run(random.duration(in: .milliseconds(1) ... .seconds(3)))
            }
            let events = try house.events(controller)
            let largest = events.map(\.number).max() ?? 0
            #expect(events.map(\.number) == events.map(\.number).sorted(), "seed \(seed)")
            for event in events {
                let known = numbers[event.number]
                #expect(known == nil || known == event, "seed \(seed): event \(event.number) has two meanings")
                numbers[event.number] = event
            }
            #expect(largest >= highest, "seed \(seed)")
            highest = max(highest, largest)
            house.run(random.duration(in: .zero ... .seconds(100)))
            house.changePlug { plug, _ in plug.losePower() }
            try house.restartPlug()
            let first = try house.reconnect(controller).min() ?? 0
            #expect(first > highest, "seed \(seed): event \(first) after event \(highest)")
        }
        house.check()
    }

    @Test("A session is resumed, and after a restart of the device a complete handshake replaces it")
    func resumption() throws {
        var house = try SimulatedMatterHouse(seed: 1)
        let controller = try house.addFabric()
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        try house.perform(controller, .connect)
        #expect(house.controllers[controller].resumedSessions == 1)
        #expect(try house.isOn(controller) == false)
        try house.restartPlug()
        // The device no longer knows the old session.
        #expect(throws: MatterControllerFault.self) { try house.isOn(controller) }
        try house.perform(controller, .connect)
        #expect(house.controllers[controller].resumedSessions == 1)
        #expect(try house.isOn(controller) == false)
        try house.perform(controller, .connect)
        #expect(house.controllers[controller].resumedSessions == 2)
        #expect(try house.isOn(controller) == false)
        house.check()
    }
}
