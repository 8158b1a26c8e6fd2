import Automation
import PlugProtocol
import ProtocolCore
import SimulatedLAN

/// A plug or the controller of the simulated house.
enum HouseholdHost: SimulatedHost {
    typealias Stimulus = HouseholdStimulus

    case plug(HousePlug)
    case controller(HouseController)

    mutating func handle(_ event: HostEvent<HouseholdStimulus>, now: Instant) -> [HostAction] {
        switch self {
        case .plug(var plug):
            defer { self = .plug(plug) }
            return plug.handle(event, now: now)
        case .controller(var controller):
            defer { self = .controller(controller) }
            return controller.handle(event, now: now)
        }
    }

    var nextDeadline: Instant? {
        switch self {
        case .plug(let plug): plug.nextDeadline
        case .controller(let controller): controller.nextDeadline
        }
    }
}

/// Television, light, amplifier and a switch by the door, and a controller with two rules, on a link whose faults the seed
/// decides.
struct Household {
    struct Broken: Error, CustomStringConvertible { let description: String }

    static let disturbance = Duration.seconds(240)
    static let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
    static let rules = [
        Rule(
            name: "cinema", triggers: [.activePower(plug: "Television", threshold)],
            actions: [.turnOff(["Light"]), .turnOn(["Amplifier"])]),
        Rule(name: "door", triggers: [.button(plug: "Switch", .single)], actions: [.toggle(["Light"])]),
    ]

    let lan: SimulatedLAN<HouseholdHost>
    let link: LinkID
    let controllerHost: HostID
    private(set) var plugs: [String: HostID] = [:]
    private var random: SeededRandom

    init(seed: UInt64) {
        lan = SimulatedLAN(seed: seed, budget: 100_000)
        random = SeededRandom(seed: seed &* 41)
        link = lan.addLink()
        for (number, name) in ["Television", "Light", "Amplifier", "Switch"].enumerated() {
            let plug = HousePlug(name: name, number: UInt8(number), relayOn: name == "Television")
            plugs[name] = lan.add(.plug(plug), name: name)
            lan.attach(plugs[name]!, to: link, addresses: [LANAddress(192, 0, 2, UInt8(10 + number))])
            lan.schedule(.powerOn(plugs[name]!), after: random.duration(in: .zero...(.seconds(3))))
        }
        controllerHost = lan.add(.controller(HouseController(rules: Self.rules)), name: "controller")
        lan.attach(controllerHost, to: link, addresses: [LANAddress(192, 0, 2, 100)])
        lan.schedule(.powerOn(controllerHost))
    }

    /// Evenings of television, presses of the switch, and faults, all of which end.
    mutating func disturb() {
        var time = Duration.seconds(5)
        while time < Self.disturbance {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                lan.schedule(.load(Int32.random(in: 0...1000, using: &random)), on: plugs["Television"]!, after: time)
            case 4..<7: lan.schedule(.press, on: plugs["Switch"]!, after: time)
            default: breakSomething(after: time)
            }
            time += random.duration(in: .milliseconds(1)...(.seconds(10)))
        }
    }

    private mutating func breakSomething(after time: Duration) {
        let end = min(time + random.duration(in: .milliseconds(1)...(.seconds(40))), Self.disturbance)
        let plug = plugs[plugs.keys.sorted().randomElement(using: &random)!]!
        // What breaks while a command is on its way shows whether it can be lost or doubled.
        if random.chance(0.5) { lan.schedule(.press, on: plugs["Switch"]!, after: time - .milliseconds(422)) }
        let time = time + random.duration(in: .zero...(.milliseconds(8)))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let faults = LinkFaults(
                loss: Double.random(in: 0...0.3, using: &random), duplication: 0.1,
                delay: .milliseconds(1)...(.milliseconds(200)))
            breakUntil(end, .linkFaults(link, faults), .linkFaults(link, .none), time)
        case 1: breakUntil(end, .partition(link, [[plug]]), .heal(link), time)
        case 2: breakUntil(end, .partition(link, [[controllerHost]]), .heal(link), time)
        case 3: breakUntil(end, .linkDown(link), .linkUp(link), time)
        case 4: breakUntil(end, .powerCut(plug), .powerOn(plug), time)
        case 5: breakUntil(end, .kill(plug), .start(plug), time)
        case 6: breakUntil(end, .suspend(controllerHost), .resume(controllerHost), time)
        default: breakUntil(end, .kill(controllerHost), .start(controllerHost), time)
        }
    }

    private func breakUntil(_ end: Duration, _ fault: Fault, _ repair: Fault, _ time: Duration) {
        lan.schedule(fault, after: time)
        lan.schedule(repair, after: end)
    }

    var controller: HouseController {
        guard case .controller(let controller) = lan[controllerHost] else { preconditionFailure("there is one") }
        return controller
    }

    func plug(_ name: String) -> HousePlug {
        guard let id = plugs[name], case .plug(let plug) = lan[id] else { preconditionFailure("no plug \(name)") }
        return plug
    }

    /// A press, or another load, and time for what follows from it.
    func act(_ stimulus: HouseholdStimulus, on name: String, then time: Duration) throws {
        lan.schedule(stimulus, on: plugs[name]!)
        try lan.run(for: time) { _ in try check() }
    }
}
