import Foundation
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Testing

/// Hosts that compete for few names. The seed decides the faults of the link and of the hosts.
struct DiscoveredHouse {
    struct Broken: Error, CustomStringConvertible { let description: String }

    /// The sum of the longest interval between two queries of a browse (3600 s), the lifetime of a PTR record that the
    /// last query requested (4500 s), and the time to resolve name collisions that are detected only then (60 s).
    static let quiet = Duration.seconds(3600 + 4500 + 60)
    static let disturbance = Duration.seconds(240)
    /// The packets that a host may send on average. During disturbances with a fault every 15 s: at most twelve claims
    /// of seven packets, and as many queries and answers. In the quiet period: the periodic queries of each browse and
    /// record.
    static let packetsDisturbed = 160
    static let packetsQuiet = 30

    let lan: SimulatedLAN<DiscoveryHost>
    let link: LinkID
    var hosts: [HostID] = []
    private var random: SeededRandom

    init(seed: UInt64) throws {
        lan = SimulatedLAN(seed: seed, budget: 60_000)
        random = SeededRandom(seed: seed &* 37)
        link = lan.addLink()
        let names = ["Lamp", "Lamp", "Fan", "Lamp (2)", "Lampe über dem Tisch", "fan"]
        for number in 0..<Int.random(in: 2...6, using: &random) {
            let wanted = try ServiceRegistration(
                name: names[number], type: DiscoveryHost.type, hostName: number < 4 ? "plug" : "other",
                port: UInt16(7000 + number), txt: TXTRecord(["id": "\(number)"]))
            let host = lan.add(DiscoveryHost(wanted), name: "host \(number)")
            let address =
                seed.isMultiple(of: 4)
                ? LANAddress.linkLocal(UInt16(10 + number)) : LANAddress(192, 0, 2, UInt8(10 + number))
            lan.attach(host, to: link, addresses: [address])
            hosts.append(host)
            lan.schedule(.powerOn(host), after: random.duration(in: .zero...(.seconds(3))))
        }
    }

    /// Schedules faults for four minutes. All faults are repaired, except that some hosts stay off after a power cut or
    /// after a goodbye.
    mutating func disturb() {
        var time = Duration.seconds(random.chance(0.5) ? 0 : 5)
        while time < Self.disturbance {
            breakSomething(after: time)
            time += random.duration(in: .milliseconds(1)...(.seconds(30)))
        }
        lan.schedule(.linkFaults(link, .none), after: Self.disturbance)
        for host in hosts.dropFirst(2) where random.chance(0.2) {
            let end = Self.disturbance + random.duration(in: .zero...(.seconds(60)))
            if random.chance(0.5) {
                lan.schedule(.powerCut(host), after: end)
            } else {
                lan.schedule(.stop, on: host, after: end)
            }
        }
    }

    private mutating func breakSomething(after time: Duration) {
        let end = min(time + random.duration(in: .milliseconds(1)...(.seconds(60))), Self.disturbance)
        let host = hosts.randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 0...1:
            let faults = LinkFaults(
                loss: Double.random(in: 0...0.3, using: &random),
                duplication: Double.random(in: 0...0.3, using: &random),
                delay: .microseconds(100)...(.milliseconds(random.chance(0.5) ? 2 : 200)),
                reordering: Double.random(in: 0...0.2, using: &random))
            lan.schedule(.linkFaults(link, faults), after: time)
        case 2:
            let group = hosts.filter { _ in random.chance(0.5) }
            breakUntil(end, .partition(link, [group]), .heal(link), time)
        case 3: breakUntil(end, .linkDown(link), .linkUp(link), time)
        case 4: breakUntil(end, .powerCut(host), .powerOn(host), time)
        case 5: breakUntil(end, .kill(host), .start(host), time)
        case 6: breakUntil(end, .suspend(host), .resume(host), time)
        default:
            lan.schedule(.stop, on: host, after: time)
            lan.schedule(.begin, on: host, after: end)
        }
    }

    private func breakUntil(_ end: Duration, _ fault: Fault, _ repair: Fault, _ time: Duration) {
        lan.schedule(fault, after: time)
        lan.schedule(repair, after: end)
    }

    /// Checks the invariants that hold after every delivery.
    func check() throws {
        for id in hosts {
            if let violation = lan[id].violation { throw Broken(description: violation) }
        }
    }

    private func isLive(_ host: HostID) -> Bool { lan.isRunning(host) && lan[host].shell != nil }

    /// Checks the invariants that hold after a long enough quiet period.
    func checkOutcome() throws {
        // Names are case-insensitive (RFC 6762 §16), and a cache keeps the spelling that it received first.
        var live: [String: HostID] = [:]
        for id in hosts where isLive(id) {
            guard let name = lan[id].registered else { throw Broken(description: "host \(id.index) has no name") }
            guard live.updateValue(id, forKey: name.lowercased()) == nil else {
                throw Broken(description: "two hosts are \"\(name)\"")
            }
        }
        for id in hosts where isLive(id) {
            // A host does not receive its own packets on this LAN.
            let expected = live.filter { $0.value != id }
            let found = lan[id].found
            guard found.keys.map({ $0.lowercased() }).sorted() == expected.keys.sorted() else {
                throw Broken(
                    description: "host \(id.index) sees \(found.keys.sorted()), not \(expected.keys.sorted())")
            }
            for (name, service) in found { try checkPlace(service, of: expected[name.lowercased()]!) }
        }
    }

    private func checkPlace(_ service: ResolvedService?, of host: HostID) throws {
        guard let service, service.port == lan[host].wanted.port, service.txt == lan[host].wanted.txt,
            service.addresses.map(\.address.bytes.last) == [UInt8(10 + host.index)]
        else {
            throw Broken(description: "host \(host.index) is resolved as \(service.map { "\($0)" } ?? "nothing")")
        }
    }

    func checkPackets(_ sent: Int, _ bound: Int) throws {
        guard sent <= bound * hosts.count else {
            throw Broken(description: "\(hosts.count) hosts sent \(sent) packets, more than \(bound) each")
        }
    }

    var sent: Int { hosts.map { lan[$0].sent }.reduce(0, +) }
}

@Suite struct DiscoverySimulationTests {
    /// Names are unique, and after a quiet period every host sees exactly the existing services at the right place.
    @Test("After faults every host sees exactly the existing services, with unique names")
    func everybodySeesExactlyWhatIsThere() throws {
        for seed in SeedPlan(environment: ProcessInfo.processInfo.environment).seeds {
            var house = try DiscoveredHouse(seed: seed)
            house.disturb()
            try house.lan.run(for: DiscoveredHouse.disturbance + .seconds(60)) { _ in try house.check() }
            let disturbed = house.sent
            try house.lan.run(for: DiscoveredHouse.quiet) { _ in try house.check() }
            let quiet = house.sent - disturbed
            for host in house.hosts { house.lan.schedule(.resolveAll, on: host) }
            try house.lan.run(for: .seconds(10)) { _ in try house.check() }
            do {
                try house.checkOutcome()
                try house.checkPackets(disturbed, DiscoveredHouse.packetsDisturbed)
                try house.checkPackets(quiet, DiscoveredHouse.packetsQuiet)
            } catch {
                throw house.lan.failure("\(error)")
            }
        }
    }
}
