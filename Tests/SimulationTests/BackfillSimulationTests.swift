import Appliance
import Foundation
import Metering
import PlugModel
import ProtocolCore
import SimulatedLAN
import Testing

/// Three plugs that measured while no controller was connected, and a controller that returns and fetches all samples.
/// The seed decides the faults of the link, the hosts and the disks.
private struct RecordedHouse {
    static let absence = Duration.seconds(9 * 3600)
    static let disturbance = Duration.seconds(300)
    /// Longer than the interval of the regular fetches of the newest samples and than every pause before a retry.
    static let calm = Duration.seconds(1500)

    var house: House

    init(seed: UInt64) {
        house = House(seed: seed, budget: 200_000)
        var configuration = ApplianceConfiguration()
        configuration.powerOnState = .on
        configuration.meterInterval = .seconds(60)
        var places: [(String, LANEndpoint)] = []
        for number in 0..<3 {
            let plug = SimulatedPlug(
                name: "Plug \(number)", number: UInt8(number), seed: seed &* 3 &+ UInt64(number),
                place: .fixed(port: 7000), configuration: configuration)
            house.add(plug)
            places.append((plug.name, LANEndpoint(plug.address, 7000)))
        }
        house.add(.recorder(RecordingController(plugs: places)), name: "controller")
    }

    var lan: SimulatedLAN<HouseHost> { house.lan }
    var controllerHost: HostID { house.controllers[0] }

    var controller: RecordingController {
        guard case .recorder(let controller) = lan[controllerHost] else {
            preconditionFailure("the controller is not a recorder")
        }
        return controller
    }

    mutating func run() throws(SimulationFailure) {
        try lan.run(for: .seconds(20)) { _ in try check() }
        guard controller.isPaired else { throw lan.failure("some plugs are not paired") }
        lan.schedule(.kill(controllerHost))
        for name in house.plugs.keys.sorted() {
            for hour in 0..<9 {
                let load = Int32.random(in: 0...9999, using: &house.random)
                lan.schedule(.load(load), on: house.plugs[name]!, after: .seconds(hour * 3600))
            }
        }
        try lan.run(for: Self.absence) { _ in try check() }
        lan.schedule(.start(controllerHost))
        var time = Duration.milliseconds(200)
        while time < Self.disturbance {
            let moment = time + house.random.duration(in: .zero...(.milliseconds(50)))
            let length = house.random.duration(in: .milliseconds(10)...(.seconds(20)))
            house.breakSomething(after: moment, until: moment + length)
            time += house.random.duration(in: .milliseconds(100)...(.seconds(20)))
        }
        lan.schedule(.kill(controllerHost), after: Self.disturbance + .seconds(100))
        lan.schedule(.start(controllerHost), after: Self.disturbance + .seconds(101))
        try lan.run(for: Self.disturbance + Self.calm) { _ in try check() }
        do {
            try checkOutcome()
        } catch {
            throw lan.failure("\(error)")
        }
    }

    private func check() throws {
        if let violation = controller.violation { throw House.Broken(description: violation) }
    }

    /// Checks the history. For the current boot it must have each plug's samples except those of the last 720 s and
    /// those that a kill made uncertain. It must have no sample that a plug did not measure.
    private func checkOutcome() throws {
        for name in house.plugs.keys.sorted() {
            let plug = house.plug(name)
            for (boot, taken) in plug.truth.samples {
                let found = try controller.history.samples(of: boot)
                guard found.isSubset(of: Set(taken)) else {
                    throw House.Broken(description: "\(name): \(found.subtracting(taken).count) unmeasured samples")
                }
                guard boot == plug.boot else { continue }
                let late = lan.clock(of: house.plugs[name]!) - .seconds(720)
                let missing = Set(taken.filter { $0.time < late }).subtracting(plug.truth.doubtful).subtracting(found)
                guard missing.isEmpty else {
                    let times = missing.map(\.milliseconds).sorted()
                    let story = "\(missing.count) of \(taken.count) samples are missing, from \(times[0]) ms"
                    throw House.Broken(description: "\(name): \(story)")
                }
            }
        }
    }
}

@Suite struct BackfillSimulationTests {
    @Test("The history has all samples of the current boots except the newest, despite faults of plugs and controller")
    func whatThePlugsRememberIsInTheHistoryThroughFaultsOnBothSides() throws {
        var (stored, fetches, failures) = (0, 0, 0)
        let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)
        try plan.run { (seed) throws(SimulationFailure) in
            // Simulating hours of samples is slow, so only a fifth of the seeds run.
            guard plan.seeds.count == 1 || seed % 5 == 1 else { return }
            var house = RecordedHouse(seed: seed)
            try house.run()
            stored += house.controller.history.order.count
            fetches += house.controller.fetches
            failures += house.controller.failedWrites
        }
        // The house was active and the faults took effect.
        #expect(stored > 0 && fetches > 3 && (failures > 0 || fetches < 50))
        print("\(fetches) fetches, \(stored) chunks stored, \(failures) writes failed")
    }
}
