import Foundation
import PlugModel
import ProtocolCore
import SimulatedLAN
import Testing

/// A household with three attackers: a lying plug that the owner has paired, a former controller, and an unpaired
/// stranger.
struct AttackedHousehold {
    var household: Household
    let former: FormerController
    let stranger: Stranger
    let evil: HostilePlug
    private let formerHost: HostID
    private let strangerHost: HostID
    private let formerKey: PublicKey

    init(seed: UInt64) {
        var household = Household(seed: seed, budget: 400_000)
        let plugs = household.plugs.keys.sorted().map { household.plug($0) }
        let places = Dictionary(uniqueKeysWithValues: plugs.map { plug in (plug.name, { plug.place }) })
        former = FormerController(rules: Household.rules, places: places) { address in
            plugs.first { $0.address == address }?.key
        }
        stranger = Stranger(places: places) { plugs.compactMap(\.id) }
        evil = HostilePlug(address: LANAddress(192, 0, 2, 66))
        formerHost = household.house.add(attacker: .former(former), name: "former", address: LANAddress(192, 0, 2, 201))
        strangerHost = household.house.add(
            attacker: .stranger(stranger), name: "stranger", address: LANAddress(192, 0, 2, 202))
        _ = household.house.add(attacker: .hostilePlug(evil), name: "evil", address: evil.address)
        formerKey = PublicKey(of: LANAddress(192, 0, 2, 201))
        self.household = household
    }

    /// Runs the household under attack, and checks that the owner's evening has the same outcome as without attackers.
    mutating func run() throws(SimulationFailure) {
        do {
            try household.pair()
            try letIn()
            household.disturb()
            attack()
            try household.lan.run(for: Household.disturbance + .seconds(120)) { _ in try household.check() }
            try remove()
            try household.spendAnEvening()
            try household.checkOutcome()
        } catch let failure as SimulationFailure {
            throw failure
        } catch {
            throw household.lan.failure("\(error)")
        }
    }

    /// Holds each plug's button, so that the former controller can pair. The owner later removes that controller.
    private func letIn() throws {
        let (lan, plugs) = (household.lan, household.plugs)
        for host in plugs.values { lan.schedule(.hold, on: host) }
        for second in 6..<20 { lan.schedule(.call, on: formerHost, after: .seconds(second)) }
        try lan.run(for: .seconds(20)) { _ in try household.check() }
        guard former.isPairedWithAll else { throw House.Broken(description: "the former controller could not pair") }
    }

    private mutating func attack() {
        var time = Duration.seconds(1)
        while time < Household.disturbance + .seconds(60) {
            household.lan.schedule(.call, on: strangerHost, after: time)
            household.lan.schedule(.call, on: formerHost, after: time)
            if household.house.random.chance(0.2) {
                household.lan.schedule(.command(on: true), on: formerHost, after: time + .milliseconds(300))
            }
            time += household.house.random.duration(in: .milliseconds(200)...(.seconds(4)))
        }
    }

    /// Lets the former controller send commands with the ids of the owner's next commands, and checks that the switch
    /// still works. Then removes that controller, and checks that all plugs refuse it and that the stranger got no
    /// answer.
    private func remove() throws {
        let lan = household.lan
        lan.schedule(.call, on: formerHost)
        lan.schedule(.command(on: true), on: formerHost, after: .seconds(2))
        try lan.run(for: .seconds(4)) { _ in try household.check() }
        for _ in 0..<2 {
            let wasLit = household.plug("Light").relayOn
            try household.act(.press, on: "Switch", then: .seconds(2))
            guard household.plug("Light").relayOn != wasLit else {
                throw House.Broken(description: "the switch fails after a request in advance")
            }
        }
        for host in household.plugs.values { lan.schedule(.remove(formerKey), on: host, after: .seconds(4)) }
        for second in 5..<60 {
            lan.schedule(.call, on: formerHost, after: .seconds(second))
            lan.schedule(.call, on: strangerHost, after: .seconds(second))
        }
        try lan.run(for: .seconds(10)) { _ in try household.check() }
        guard former.refusedBy.count == household.plugs.count else {
            throw House.Broken(description: "some plugs accept a removed controller")
        }
        guard stranger.answers == 0 else {
            throw House.Broken(description: "a stranger got \(stranger.answers) answers")
        }
    }
}

@Suite struct AttackedHouseholdTests {
    /// Attack class: messages of other hosts cause a command of the owner's rules to be lost, executed twice, or
    /// answered with the outcome of an attacker's command.
    @Test("The owner's rules run correctly while attackers send messages and commands")
    func theOwnersRulesDoWhatTheySayAmongAttackers() async throws {
        // This is the longest simulation. Without parts it would use one core after the others have ended.
        let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)
        let all = try await withThrowingTaskGroup(of: Effects.self) { group in
            for part in plan.parts(ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask { try effects(of: part) }
            }
            return try await group.reduce(into: Effects()) { $0.add($1) }
        }
        // The attacks took effect: ids of the owner's commands had been requested in advance, and messages were
        // changed.
        #expect(all.firings > 3 && all.foreseen > 3 && all.lies > 3)
        print("\(all.firings) firings, \(all.foreseen) commands requested in advance, \(all.lies) changed messages")
    }

    private struct Effects {
        var (firings, foreseen, lies) = (0, 0, 0)

        mutating func add(_ other: Effects) {
            firings += other.firings
            foreseen += other.foreseen
            lies += other.lies
        }
    }

    private func effects(of plan: SeedPlan) throws(SimulationFailure) -> Effects {
        var effects = Effects()
        try plan.run { (seed) throws(SimulationFailure) in
            var house = AttackedHousehold(seed: seed)
            try house.run()
            let ids = Set(house.household.controller.commands.map(\.request.id))
            effects.firings += house.household.controller.firings.count
            effects.foreseen += house.former.asked.intersection(ids).count
            effects.lies += house.evil.lies
        }
        return effects
    }
}
