import Foundation
import PlugProtocol
import ProtocolCore
import SimulatedLAN
import Testing

/// A plug or one of its controllers.
enum HouseHost: SimulatedHost {
    typealias Stimulus = HouseStimulus

    case plug(PlugHost)
    case controller(ControllerHost)

    mutating func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
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

/// One plug and two controllers on a link whose faults the seed decides.
struct PlugHouse {
    struct Broken: Error, CustomStringConvertible { let description: String }

    let lan: SimulatedLAN<HouseHost>
    let link: LinkID
    let plug: HostID
    let controllers: [HostID]
    /// A small ring is overwritten while a controller is away or slow to read; its streams' buffers are small as well.
    let ring: Int
    var random: SeededRandom

    init(seed: UInt64) {
        ring = seed.isMultiple(of: 3) ? 6 : 4096
        lan = SimulatedLAN(seed: seed, budget: 100_000, sendBuffer: ring > 100 ? 65_536 : 150)
        random = SeededRandom(seed: seed &* 31)
        link = lan.addLink()
        let address = IPAddress(192, 0, 2, 1)
        plug = lan.add(.plug(PlugHost(ring: ring)), name: "plug")
        lan.attach(plug, to: link, addresses: [address])
        var controllers: [HostID] = []
        for (number, name) in ["desk", "daemon"].enumerated() {
            let host = ControllerHost(name: name, plug: Endpoint(address, PlugHost.port))
            controllers.append(lan.add(.controller(host), name: name))
            lan.attach(controllers[number], to: link, addresses: [IPAddress(192, 0, 2, UInt8(10 + number))])
        }
        self.controllers = controllers
        for host in [plug] + controllers { lan.schedule(.powerOn(host)) }
    }

    /// Ten minutes of presses, commands and faults; each fault ends before the eleventh.
    mutating func disturb() {
        var time = Duration.seconds(1)
        while time < .seconds(600) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: lan.schedule(.press, on: plug, after: time)
            case 4..<7:
                let on = Bool.random(using: &random)
                lan.schedule(.command(on: on), on: controllers.randomElement(using: &random)!, after: time)
            default: breakSomething(after: time)
            }
            time += random.duration(in: .milliseconds(1)...(.seconds(15)))
        }
    }

    private mutating func breakSomething(after time: Duration) {
        let end = time + random.duration(in: .milliseconds(10)...(.seconds(90)))
        let controller = controllers.randomElement(using: &random)!
        // What breaks while a command is on its way is what shows whether it can be lost or doubled.
        lan.schedule(.command(on: Bool.random(using: &random)), on: controller, after: time)
        let time = time + random.duration(in: .zero...(.milliseconds(6)))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let faults = LinkFaults(
                loss: Double.random(in: 0...0.5, using: &random), delay: .milliseconds(1)...(.milliseconds(300)))
            schedule(.linkFaults(link, faults), until: end, .linkFaults(link, .none), time)
        case 1: schedule(.partition(link, [[controller]]), until: end, .heal(link), time)
        case 2: schedule(.linkDown(link), until: end, .linkUp(link), time)
        case 3: schedule(.powerCut(plug), until: end, .powerOn(plug), time)
        // Of a command that a small ring has forgotten, a restart leaves no trace.
        case 4: if ring > 100 { schedule(.kill(plug), until: end, .start(plug), time) }
        case 5: schedule(.suspend(controller), until: end, .resume(controller), time)
        case 6: schedule(.kill(controller), until: end, .start(controller), time)
        default: lan.schedule(.stepWallClock(controller, by: .seconds(-86_400)), after: time)
        }
    }

    private func schedule(_ fault: Fault, until end: Duration, _ repair: Fault, _ time: Duration) {
        lan.schedule(fault, after: time)
        lan.schedule(repair, after: end)
    }

    func controller(_ id: HostID) -> ControllerHost {
        guard case .controller(let controller) = lan[id] else { preconditionFailure("a controller was asked for") }
        return controller
    }

    var plugHost: PlugHost {
        guard case .plug(let plug) = lan[plug] else { preconditionFailure("the plug was asked for") }
        return plug
    }

    /// Holds after every delivery: order, no hole and no repetition, and the age of what came last.
    func check() throws {
        for id in controllers {
            let controller = controller(id)
            if let violation = controller.violation { throw Broken(description: violation) }
            guard let heard = controller.lastAge, heard.at == lan.clock(of: id), let age = heard.age,
                heard.event.boot == plugHost.boot
            else { continue }
            // Half the round trip of Hello is what the controller cannot know, on either side.
            let truth = lan.clock(of: plug) - heard.event.time
            let least = truth - heard.uncertainty * 2 - .milliseconds(1)
            guard (least...truth + .milliseconds(1)).contains(age) else {
                throw Broken(description: "event \(heard.event.sequence) is \(truth) old, not \(age)")
            }
        }
    }

    /// Holds once all is quiet: everything was seen once or lies in a gap, and what was acknowledged happened once.
    func checkOutcome() throws {
        let history = plugHost.history
        for id in controllers {
            let database = controller(id).database
            guard database.cursor == plugHost.lastSequence else {
                throw Broken(description: "it saw \(database.cursor) of \(plugHost.lastSequence) events")
            }
            for event in database.seen where history[event.sequence] != event {
                throw Broken(description: "event \(event.sequence) is not the one that happened")
            }
            let seen = Set(database.seen.map(\.sequence))
            for sequence in history.keys.sorted() {
                let lost = database.gaps.contains { ($0.from...$0.to).contains(sequence) }
                guard seen.contains(sequence) != lost else {
                    throw Broken(description: "event \(sequence): seen \(seen.contains(sequence)), in a gap \(lost)")
                }
            }
            guard ring < 100 || !database.gaps.contains(where: { $0.reason == .overwritten }) else {
                throw Broken(description: "a ring that was never full was overwritten")
            }
            try checkCommands(database, history)
        }
    }

    private func checkCommands(
        _ database: ControllerHost.Database, _ history: [SequenceNumber: PlugEvent]
    ) throws {
        guard database.outstanding.isEmpty else { throw Broken(description: "a command was never answered") }
        for (request, outcome) in database.acknowledged {
            let effects = history.values.filter {
                guard case .relayChanged(_, cause: .controller(_, request)) = $0.kind else { return false }
                return true
            }
            guard case .done(_, let event) = outcome else { throw Broken(description: "a command was refused") }
            guard effects.map(\.sequence) == (event.map { [$0] } ?? []) else {
                throw Broken(description: "a command with event \(event ?? 0) has \(effects.count) effects")
            }
        }
    }
}

@Suite struct PlugSessionFaultTests {
    /// Every event of the journal is seen exactly once and in order or lies in a reported gap; acknowledged commands took
    /// effect exactly once.
    @Test func nothingIsLostAndNothingComesTwice() throws {
        var (seen, gaps, acknowledged, sessions) = (0, 0, 0, 0)
        for seed in SeedPlan(environment: ProcessInfo.processInfo.environment).seeds {
            var house = PlugHouse(seed: seed)
            house.disturb()
            try house.lan.run(for: .seconds(1000)) { _ in try house.check() }
            do {
                try house.checkOutcome()
            } catch {
                throw house.lan.failure("\(error)")
            }
            for id in house.controllers {
                let controller = house.controller(id)
                seen += controller.database.seen.count
                gaps += controller.database.gaps.count
                acknowledged += controller.database.acknowledged.count
                sessions += controller.sessions
            }
        }
        // The faults were real: sessions broke, gaps were reported, and most went through all the same.
        #expect(seen > 0 && acknowledged > 0 && sessions > 2)
        print("seen \(seen) events, \(gaps) gaps, \(acknowledged) commands, \(sessions) sessions")
    }

    @Test func theSameSeedGivesTheSameHouse() throws {
        func run() throws -> [PlugEvent] {
            var house = PlugHouse(seed: 5)
            house.disturb()
            try house.lan.run(for: .seconds(700))
            return house.controller(house.controllers[0]).database.seen
        }
        #expect(try run() == run())
    }
}
