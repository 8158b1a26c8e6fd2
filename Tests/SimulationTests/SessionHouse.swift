import Appliance
import PlugModel
import ProtocolCore
import SimulatedLAN

/// One plug and two or three controllers that follow it with different options.
struct SessionHouse {
    static let disturbance = Duration.seconds(600)
    private static let port: UInt16 = 7000

    var house: House
    /// The number of events that the journal of the plug can store. A small journal is overwritten while a controller
    /// is disconnected or slow. If the journal is small, the send buffers of all streams are small as well.
    let ring: Int
    /// The longest time that the plug's flash takes for a write. Zero means that writes end at once.
    private let flashTime: Duration

    init(seed: UInt64, flashTime: Duration = .zero) {
        self.flashTime = flashTime
        ring = seed.isMultiple(of: 3) ? 6 : 4096
        house = House(seed: seed, budget: 100_000, sendBuffer: ring > 100 ? 65_536 : 150)
        house.sparesDisks = flashTime > .zero
        var configuration = ApplianceConfiguration()
        configuration.meterInterval = .seconds(2)
        var limits = PlugMemory.Limits()
        limits.journal.events = ring
        // A small reservation makes the plug write the boundary often, and reach it often if flash is slow.
        limits.reservation = flashTime > .zero ? 2 : 16
        let plug = SimulatedPlug(
            name: "Lamp", number: 1, seed: seed, place: .fixed(port: Self.port), configuration: configuration,
            limits: limits)
        house.add(plug)
        let manners = [
            ("desk", StateOptions()), ("daemon", StateOptions(deadBandMilliwatts: 20_000)),
            ("chart", StateOptions(deadBandMilliwatts: 5000, maximumInterval: .seconds(10))),
        ]
        for (name, options) in manners.prefix(seed.isMultiple(of: 5) ? 3 : 2) {
            let place = LANEndpoint(plug.address, Self.port)
            house.add(
                .follower(FollowingController(name: name, plug: place, stateOptions: options)), name: name)
        }
    }

    var lan: SimulatedLAN<HouseHost> { house.lan }
    var plug: SimulatedPlug { house.plug("Lamp") }

    func controller(_ id: HostID) -> FollowingController {
        guard case .follower(let controller) = lan[id] else {
            preconditionFailure("host \(id.index) is not a follower")
        }
        return controller
    }

    var controllers: [(id: HostID, controller: FollowingController)] { house.controllers.map { ($0, controller($0)) } }

    /// Schedules ten minutes of presses, commands, load changes and faults. Each fault ends within 90 s, or within
    /// 185 s if it is a fault of the disk of a plug that is off.
    mutating func disturb() {
        let plug = house.plugs["Lamp"]!
        if flashTime > .zero { lan.schedule(.flashTakes(.zero...flashTime), on: plug, after: .zero) }
        var time = Duration.seconds(1)
        while time < Self.disturbance {
            switch Int.random(in: 0..<10, using: &house.random) {
            case 0..<3: lan.schedule(.press, on: plug, after: time)
            case 3..<5:
                // If flash is slow, more commands are sent than event numbers are reserved, so that events wait for
                // their numbers.
                for _ in 0..<(flashTime > .zero ? 6 : 1) { command(after: time) }
            case 5: lan.schedule(.load(Int32.random(in: 0...1000, using: &house.random)), on: plug, after: time)
            default:
                // A fault while a command is in flight shows whether the command can be lost or repeated.
                if house.random.chance(0.7) { command(after: time) }
                let moment = time + house.random.duration(in: .zero...(.milliseconds(6)))
                house.breakSomething(
                    after: moment, until: moment + house.random.duration(in: .milliseconds(10)...(.seconds(90))))
            }
            time += house.random.duration(in: .milliseconds(1)...(.seconds(15)))
        }
        // The plug retries flash after at most five minutes, so flash works again at the time of this last fetch.
        for id in house.controllers { lan.schedule(.fetchSamples, on: id, after: .seconds(990)) }
    }

    private mutating func command(after time: Duration) {
        let on = Bool.random(using: &house.random)
        lan.schedule(.command(on: on), on: house.controllers.randomElement(using: &house.random)!, after: time)
    }

    /// Pairs the controllers with the new plug, whose pairing window is open.
    private func pair() throws(SimulationFailure) {
        try lan.run(for: .seconds(10)) { _ in try check() }
        guard controllers.allSatisfy({ $0.controller.database.pinned.count == 1 }) else {
            throw lan.failure("some controllers are not paired")
        }
    }

    /// Runs all faults until the house is quiet again, and checks the outcome.
    mutating func run() throws(SimulationFailure) {
        try pair()
        disturb()
        try lan.run(for: .seconds(1000)) { _ in try check() }
        do {
            try checkOutcome()
        } catch {
            throw lan.failure("\(error)")
        }
    }
}
