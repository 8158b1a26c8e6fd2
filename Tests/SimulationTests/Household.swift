import Appliance
import PlugModel
import PlugProtocol
import ProtocolCore
import RuleModel
import SimulatedLAN

/// Television, light, amplifier and a switch by the door, and a controller with two rules. The seed decides the faults.
struct Household {
    static let disturbance = Duration.seconds(240)
    static let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
    static let rules = [
        Rule(
            name: "cinema", triggers: [.activePower(plug: "Television", threshold)],
            actions: [.turnOff(["Light"]), .turnOn(["Amplifier"])]),
        Rule(name: "door", triggers: [.button(plug: "Switch", .single)], actions: [.toggle(["Light"])]),
    ]

    var house: House

    init(seed: UInt64, budget: Int = 100_000) {
        house = House(seed: seed, budget: budget)
        for (number, name) in ["Television", "Light", "Amplifier", "Switch"].enumerated() {
            var configuration = ApplianceConfiguration()
            if name == "Television" { configuration.powerOnState = .on }
            let plug = SimulatedPlug(
                name: name, number: UInt8(number), seed: seed &* 4 &+ UInt64(number), place: .announced,
                configuration: configuration)
            house.add(plug, after: house.random.duration(in: .zero...(.seconds(3))))
        }
        house.add(.ruler(RulingController(rules: Self.rules)), name: "controller")
    }

    /// The id by which the plugs know the owner's controller.
    var owner: AuthorityID { AuthorityID(PublicKey(of: House.address(ofController: 1))) }

    var lan: SimulatedLAN<HouseHost> { house.lan }
    var plugs: [String: HostID] { house.plugs }
    var controllerHost: HostID { house.controllers[0] }

    var controller: RulingController {
        guard case .ruler(let controller) = lan[controllerHost] else {
            preconditionFailure("the controller runs no rules")
        }
        return controller
    }

    func plug(_ name: String) -> SimulatedPlug { house.plug(name) }

    /// Schedules changes of the television's power, presses of the switch, and faults with their repairs.
    mutating func disturb() {
        var time = Duration.seconds(5)
        while time < Self.disturbance {
            switch Int.random(in: 0..<10, using: &house.random) {
            case 0..<4:
                let load = Int32.random(in: 0...1000, using: &house.random)
                lan.schedule(.load(load), on: plugs["Television"]!, after: time)
            case 4..<7: lan.schedule(.press, on: plugs["Switch"]!, after: time)
            default:
                // A fault while a command is in flight shows whether the command can be lost or repeated.
                if house.random.chance(0.5) {
                    lan.schedule(.press, on: plugs["Switch"]!, after: time - .milliseconds(422))
                }
                let moment = time + house.random.duration(in: .zero...(.milliseconds(8)))
                let length = house.random.duration(in: .milliseconds(10)...(.seconds(40)))
                house.breakSomething(after: moment, until: min(moment + length, Self.disturbance + .seconds(1)))
            }
            time += house.random.duration(in: .milliseconds(1)...(.seconds(10)))
        }
    }

    /// Pairs the controller with the new plugs, whose pairing windows are open.
    func pair() throws(SimulationFailure) {
        try lan.run(for: .seconds(15)) { _ in try check() }
        guard plugs.keys.allSatisfy({ controller.records[$0]?.pinned.count == 1 }) else {
            throw lan.failure("some plugs are not paired")
        }
    }

    /// Runs the faults until the house is quiet again, and then an evening without faults.
    mutating func run() throws(SimulationFailure) {
        try pair()
        disturb()
        try lan.run(for: Self.disturbance + .seconds(120)) { _ in try check() }
        do {
            try spendAnEvening()
            try checkOutcome()
        } catch let failure as SimulationFailure {
            throw failure
        } catch {
            throw lan.failure("\(error)")
        }
    }

    /// Presses a button or changes a load, and runs the house for `time`.
    func act(_ stimulus: HouseStimulus, on name: String, then time: Duration) throws {
        lan.schedule(stimulus, on: plugs[name]!)
        try lan.run(for: time) { _ in try check() }
    }
}
