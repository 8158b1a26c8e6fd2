import ProtocolCore
import SimulatedLAN
import TestSupport

import PlugModel

@testable import PlugProtocol

/// A plug, its owners, and attackers that try to pair.
struct PairingHouse {
    static let disturbance = Duration.seconds(900)
    private static let port: UInt16 = 7000

    var house: House
    private let intermediary: HostID
    /// The keys of all controllers that were paired at the previous check.
    private var paired: Set<PublicKey> = []
    /// The number of proofs that each owner had sent when it was last paired.
    private var spent: [PublicKey: Int] = [:]
    private var starts: UInt16 = 0
    /// The plug's keys so far, in order.
    private var plugKeys: [PublicKey]

    init(seed: UInt64) {
        house = House(seed: seed, budget: 100_000)
        let plug = SimulatedPlug(name: "Lamp", number: 1, seed: seed, place: .fixed(port: Self.port))
        plugKeys = [PublicKey(of: plug.address)]
        let shown = { (address: LANAddress) in address == plug.address ? plug.key : PublicKey(of: address) }
        house.add(plug)
        let place = LANEndpoint(plug.address, Self.port)
        house.add(.intermediary(Intermediary(port: Self.port, before: place)), name: "intermediary")
        intermediary = house.controllers[0]
        let wiretap = Wiretap()
        let callers: [(String, Caller.Manner, LANEndpoint)] = [
            ("desk", .owner, place), ("phone", .owner, place),
            ("lured", .owner, LANEndpoint(House.address(ofController: 1), Self.port)),
            ("guesser", .guesser, place), ("stranger", .stranger, place), ("replayer", .replayer, place),
        ]
        for (name, manner, place) in callers {
            house.add(.caller(Caller(name: name, manner, at: place, wiretap: wiretap, shown: shown)), name: name)
        }
    }

    var lan: SimulatedLAN<HouseHost> { house.lan }
    var plug: SimulatedPlug { house.plug("Lamp") }

    var callers: [(id: HostID, caller: Caller)] {
        house.controllers.compactMap { id in
            guard case .caller(let caller) = lan[id] else { return nil }
            return (id, caller)
        }
    }

    /// The callers that know the code and connect to the real plug.
    private var owners: [(id: HostID, caller: Caller)] {
        callers.filter { $0.caller.manner == .owner && $0.caller.place.address == plug.address }
    }

    private mutating func disturb() {
        let plug = house.plugs["Lamp"]!
        let callers = callers.map(\.id)
        var time = Duration.seconds(1)
        while time < Self.disturbance {
            switch Int.random(in: 0..<19, using: &house.random) {
            case 0..<11: lan.schedule(.call, on: callers.randomElement(using: &house.random)!, after: time)
            case 11: lan.schedule(.hold, on: plug, after: time)
            case 12:
                let (first, second) = (callers[0], House.address(ofController: 3))
                lan.schedule(.remove(PublicKey(of: second)), on: first, after: time)
            case 13:
                lan.schedule(.holdForReset, on: plug, after: time)
            case 14: for caller in callers { lan.schedule(.reset, on: caller, after: time) }
            case 15:
                // The reset is interrupted at a random step.
                let breakdown = house.random.chance(0.7) ? SimulatedDisk.Breakdown.powerCut : .kill
                let steps = Int.random(in: 0...150, using: &house.random)
                let reset = time + .seconds(15)
                lan.schedule(.holdForReset, on: plug, after: time)
                lan.schedule(.diskBreaksDown(breakdown, afterSteps: steps), on: plug, after: reset - .milliseconds(1))
                house.during(
                    reset + .seconds(5), reset + .seconds(6), breakdown == .kill ? .kill(plug) : .powerCut(plug),
                    .start(plug))
                lan.schedule(.powerOn(plug), after: reset + .seconds(6))
            case 16:
                lan.schedule(.corrupt("controllers"), on: plug, after: time)
                house.during(time, time + .seconds(1), .powerCut(plug), .powerOn(plug))
            default:
                house.breakSomething(
                    after: time, until: time + house.random.duration(in: .milliseconds(10)...(.seconds(60))))
            }
            time += house.random.duration(in: .milliseconds(1)...(.seconds(20)))
        }
    }

    /// Runs all faults and attacks, then checks that after a quiet period every owner can connect.
    mutating func run() throws(SimulationFailure) {
        disturb()
        try lan.run(for: Self.disturbance + .seconds(400)) { _ in try check() }
        let lamp = house.plugs["Lamp"]!
        if plug.isOffNetwork {
            // The plug's flash failed during a reset. It works again, and the plug uses its key after a restart.
            house.during(.zero, .milliseconds(10), .kill(lamp), .start(lamp))
            try lan.run(for: .seconds(1)) { _ in try check() }
        }
        lan.schedule(.hold, on: lamp)
        try lan.run(for: .seconds(3)) { _ in try check() }
        // An owner that the plug has forgotten needs three connections: the first is refused, the second pairs, and the third
        // sends Hello.
        for _ in 0..<3 {
            for (id, _) in owners { lan.schedule(.call, on: id) }
            try lan.run(for: .seconds(35)) { _ in try check() }
        }
        for (id, owner) in owners where !owner.isFollowing {
            let story = "running \(lan.isRunning(id)), \(owner.welcomes) welcomes, paired \(owner.results.suffix(3))"
            throw lan.failure("\(owner.name) cannot connect: \(story), refused \(owner.refusals.suffix(3))")
        }
    }

    // MARK: After every delivery

    /// Checks that a caller that was never paired receives only Goodbyes and challenges, that callers pin only the
    /// plug's own keys, and that no unpaired controller is served.
    private mutating func check() throws {
        guard let machine = plug.machine else { return }
        if machine.access.key != plugKeys.last, !plug.isOffNetwork {
            // The plug has a new key after a reset. Each controller that it then knows must have proved the code since.
            plugKeys.append(machine.access.key)
            (paired, starts) = ([], plug.starts)
        }
        let known = machine.access.controllers.all
        try checkProofs(Set(known.map(\.key)))
        for connection in machine.connections {
            guard let name = connection.controller, !known.contains(where: { $0.name == name }) else { continue }
            throw House.Broken(description: "\(name) is served but not paired")
        }
        for (_, caller) in callers {
            if let pinned = caller.pinned, !plugKeys.contains(pinned) {
                throw House.Broken(description: "\(caller.name) pinned a key that is not the plug's")
            }
            if caller.key.map({ spent[$0] != nil }) != true { try checkRefused(caller.told, caller.name) }
        }
        guard case .intermediary(let intermediary) = lan[intermediary] else { return }
        try checkRefused(intermediary.told, "the man in the middle")
    }

    /// Checks that each newly paired controller is an owner that sent one more proof, to the plug itself.
    private mutating func checkProofs(_ keys: Set<PublicKey>) throws {
        for key in keys.subtracting(paired) {
            guard let owner = owners.first(where: { $0.caller.key == key })?.caller else {
                throw House.Broken(
                    description: "a host is paired without the code, or through the man in the middle")
            }
            // After a start with failed flash the plug may still know a controller that it had removed.
            guard owner.proofs > spent[key, default: 0] || plug.starts != starts else {
                throw House.Broken(description: "\(owner.name) is paired without a new proof")
            }
            spent[key] = owner.proofs
        }
        (paired, starts) = (keys, plug.starts)
    }

    /// Checks that only Goodbye and challenges were received. A challenge contains only the plug's id and a nonce.
    private func checkRefused(_ told: [WirePlugMessage.OneOf_Kind], _ name: String) throws {
        for message in told {
            switch message {
            case .goodbye, .pairingChallenge: break
            case .welcome, .invitations, .subscribed, .snapshot, .event, .state, .result, .samples, .ping, .pong,
                .pairingProof,
                .controllers, .descriptionChanged, .logAnswer, .logLines, .invitation, .newCode, .keyAccepted, .nextKey,
                .refused,
                .homekit, .matter, .update, .wifi, .audit:
                throw House.Broken(description: "\(name) received \(message)")
            }
        }
    }
}
