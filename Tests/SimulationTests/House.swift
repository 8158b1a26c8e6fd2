import PlugModel
import ProtocolCore
import SimulatedLAN
import TestSupport

/// Plugs and their controllers on a link. The seed decides the faults.
struct House {
    struct Broken: Error, CustomStringConvertible { let description: String }

    let lan: SimulatedLAN<HouseHost>
    let link: LinkID
    private(set) var plugs: [String: HostID] = [:]
    private(set) var controllers: [HostID] = []
    var random: SeededRandom
    /// True if disks do not fail and do not corrupt files; they may still be slow.
    var sparesDisks = false

    init(seed: UInt64, budget: Int, sendBuffer: Int = 65_536) {
        lan = SimulatedLAN(seed: seed, budget: budget, sendBuffer: sendBuffer)
        random = SeededRandom(seed: seed &* 31)
        link = lan.addLink()
    }

    mutating func add(_ plug: SimulatedPlug, after delay: Duration = .zero) {
        let id = lan.add(.plug(plug), name: plug.name)
        plugs[plug.name] = id
        attach(id, address: plug.address, after: delay)
    }

    mutating func add(_ controller: HouseHost, name: String) {
        let id = lan.add(controller, name: name)
        controllers.append(id)
        attach(id, address: Self.address(ofController: controllers.count), after: .zero)
    }

    /// Adds a host that is never a target of ``breakSomething(after:until:)``. Faults of the link affect it too.
    mutating func add(attacker: HouseHost, name: String, address: LANAddress) -> HostID {
        let id = lan.add(attacker, name: name)
        attach(id, address: address, after: .zero)
        return id
    }

    /// The address of a controller; numbers start at 1, in the order of their addition.
    static func address(ofController number: Int) -> LANAddress { LANAddress(192, 0, 2, UInt8(100 + number)) }

    private func attach(_ host: HostID, address: LANAddress, after delay: Duration) {
        lan.attach(host, to: link, addresses: [address])
        lan.schedule(.powerOn(host), after: delay)
    }

    func plug(_ name: String) -> SimulatedPlug {
        guard let id = plugs[name], case .plug(let plug) = lan[id] else { preconditionFailure("no plug \(name)") }
        return plug
    }

    // MARK: Faults

    /// Schedules one random fault, and its repair if it needs one. Most repairs are at `end`.
    mutating func breakSomething(after time: Duration, until end: Duration) {
        let plug = plugs[plugs.keys.sorted().randomElement(using: &random)!]!
        let controller = controllers.randomElement(using: &random)!
        switch Int.random(in: 0..<(sparesDisks ? 14 : 16), using: &random) {
        case 0:
            let faults = LinkFaults(
                loss: Double.random(in: 0...0.4, using: &random), duplication: 0.1,
                delay: .milliseconds(1)...(.milliseconds(300)))
            during(time, end, .linkFaults(link, faults), .linkFaults(link, .none))
        case 1: during(time, end, .partition(link, [[controller]]), .heal(link))
        case 2: during(time, end, .partition(link, [[plug]]), .heal(link))
        case 3: during(time, end, .linkDown(link), .linkUp(link))
        case 4: during(time, end, .powerCut(plug), .powerOn(plug))
        case 5, 6:
            during(time, end, .kill(plug), .start(plug))
            pressSoon(plug, after: end)
        case 7: during(time, end, .suspend(controller), .resume(controller))
        case 8: during(time, end, .kill(controller), .start(controller))
        case 9:
            let step = Duration.seconds(Int.random(in: -100_000...100_000, using: &random))
            lan.schedule(.stepWallClock(random.chance(0.5) ? controller : plug, by: step), after: time)
        case 10:
            lan.schedule(.killBeforeStore(Int.random(in: 0...3, using: &random)), on: controller, after: time)
            during(end, end, .kill(controller), .start(controller))
        case 11, 12: breakDownWithin(plug, .powerCut, time, end)
        case 13: breakDownWithin(plug, .kill, time, end)
        case 14: spoilDisk(plug, random.chance(0.5) ? .flash : .memory, time, end)
        default: corrupt(plug, time, end)
        }
    }

    func during(_ time: Duration, _ end: Duration, _ fault: Fault, _ repair: Fault) {
        lan.schedule(fault, after: time)
        lan.schedule(repair, after: end)
    }

    /// In half of the cases, schedules three presses 700 ms apart. They fill a small event journal and toggle the relay
    /// before the controllers reconnect to the restarted plug and repeat their requests.
    private mutating func pressSoon(_ plug: HostID, after time: Duration) {
        guard random.chance(0.5) else { return }
        for press in 0..<3 { lan.schedule(.press, on: plug, after: time + .milliseconds(1 + 700 * press)) }
    }

    /// Schedules a breakdown of the plug at a random disk step, counted from `time` or from the plug's next start. If
    /// the disk does not reach this step, the breakdown happens at `end`.
    private mutating func breakDownWithin(
        _ plug: HostID, _ breakdown: SimulatedDisk.Breakdown, _ time: Duration, _ end: Duration
    ) {
        let steps = Int.random(in: 0...(random.chance(0.5) ? 80 : 400), using: &random)
        if random.chance(0.3) {
            lan.schedule(.nextStartBreaksDown(breakdown, afterSteps: steps), on: plug, after: time)
            during(time, time + (end - time) / 2, .powerCut(plug), .powerOn(plug))
        } else {
            lan.schedule(.diskBreaksDown(breakdown, afterSteps: steps), on: plug, after: time)
        }
        // `start` has an effect only after a kill, and `powerOn` only after a power cut.
        lan.schedule(breakdown == .kill ? .kill(plug) : .powerCut(plug), after: end)
        lan.schedule(.start(plug), after: end)
        lan.schedule(.powerOn(plug), after: end)
    }

    private mutating func spoilDisk(
        _ plug: HostID, _ area: SimulatedDisk.Area, _ time: Duration, _ end: Duration
    ) {
        var faults = SimulatedDisk.Faults()
        switch Int.random(in: 0..<3, using: &random) {
        case 0: faults.isReadOnly = true
        case 1: faults.room = Int.random(in: 0...200, using: &random)
        default: faults.synchronizeError = .inputOutput
        }
        lan.schedule(.disk(area, faults), on: plug, after: time)
        // A plug uses its disk most when it starts, and its next process reads the files that the previous process
        // left.
        if random.chance(0.5) {
            let middle = time + (end - time) / 2
            during(middle, middle + .milliseconds(10), .kill(plug), .start(plug))
            during(end + .seconds(1), end + .seconds(2), .kill(plug), .start(plug))
        }
        // A plug that does not run at the time of the first repair gets the second one.
        for repair in [end, end + .seconds(95)] {
            lan.schedule(.disk(area, SimulatedDisk.Faults()), on: plug, after: repair)
        }
    }

    /// Corrupts a file in the plug's flash and cuts the power, so that the plug reads the corrupted file at its next
    /// start.
    private mutating func corrupt(_ plug: HostID, _ time: Duration, _ end: Duration) {
        lan.schedule(.corrupt(["sequence", "state", "id"].randomElement(using: &random)!), on: plug, after: time)
        during(time, end, .powerCut(plug), .powerOn(plug))
    }
}
