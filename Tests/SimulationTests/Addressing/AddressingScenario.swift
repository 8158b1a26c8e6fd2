import AddressConfiguration
import DNSWire
import ProtocolCore
import SimulatedLAN

/// A house and its faults, both drawn from a seed.
struct AddressingScenario {
    /// The time during which faults occur.
    static let disturbance = Duration.seconds(150)
    /// The time without faults that follows the faults. In this time every lease of a dead server expires, every plug
    /// with too many conflicts makes its next try, and each host with a duplicate address sends a packet.
    static let quiet = Duration.seconds(600)
    static let crowd = 500

    let house: AddressingHouse
    /// True if a host denies every address until the end, so that no plug can get one.
    let isHopeless: Bool
    private var random: SeededRandom

    init(seed: UInt64, isTraced: Bool) {
        random = SeededRandom(seed: seed &* 47)
        let isCrowd = seed.isMultiple(of: 100)
        isHopeless = seed % 20 == 7
        let count = isCrowd ? Self.crowd : Self.size(&random)
        let hostCount = 3
        let taken = (0..<2).map { IPv4Address(10, 0, 1, UInt8(3 + 4 * $0)) }
        let servers = Self.servers(plugs: count, taken: taken, &random)
        house = AddressingHouse(
            seed: seed, plugs: count, hosts: hostCount, servers: servers, budget: 4000 * count + 60_000,
            isTraced: isTraced)
        for (host, address) in taken.enumerated() { house.hosts[host].address = address }
        addPlugs(count)
        if isHopeless {
            house.schedule(.happening(.deny(host: 2, true)), after: .zero)
        }
    }

    private static func size(_ random: inout SeededRandom) -> Int {
        random.chance(0.15) ? Int.random(in: 13...40, using: &random) : Int.random(in: 2...12, using: &random)
    }

    /// Returns up to three servers, which share no state and offer the same addresses.
    private static func servers(plugs: Int, taken: [IPv4Address], _ random: inout SeededRandom) -> [ScriptedServer] {
        let count = [0, 1, 1, 1, 2, 2, 3].randomElement(using: &random)!
        let room = random.chance(0.2) ? plugs / 2 + 1 : plugs * 2 + 8
        let pool = (0..<room).map { IPv4Address(rawValue: IPv4Address(10, 0, 1, 0).rawValue + UInt32(1 + $0)) }
        return (0..<count).map { number in
            let manner = random.chance(0.6) ? .correct : ScriptedServer.Manner.allCases.randomElement(using: &random)!
            return ScriptedServer(
                number: UInt8(number + 1), manner: manner, pool: pool, taken: taken,
                leaseTime: [30, 60, 120, 240].randomElement(using: &random)!, seed: random.next())
        }
    }

    /// Powers on all plugs within one second. Some plugs remember an address, and several plugs may remember the same
    /// one.
    private mutating func addPlugs(_ count: Int) {
        for number in 0..<count {
            var memory = RememberedAddresses()
            if random.chance(0.4) {
                memory.linkLocal = IPv4Address(169, 254, 7, UInt8.random(in: 1...6, using: &random))
            }
            if random.chance(0.3) {
                memory.lease = RememberedLease(
                    address: IPv4Address(10, 0, 1, UInt8.random(in: 1...9, using: &random)),
                    server: IPv4Address(10, 0, 0, 1))
            }
            let hardware = MACAddress(2, 0, 0, 0, UInt8(number / 256), UInt8(number % 256))
            house.add(AddressedPlug(hardware: hardware, memory: memory, seed: random.next()))
            house.schedule(.happening(.powerOn(number)), after: random.duration(in: .zero...(.seconds(1))))
        }
    }

    // MARK: Faults

    mutating func disturb() {
        var time = random.duration(in: .zero...(.seconds(8)))
        let pace: Duration = .seconds(random.chance(0.3) ? 4 : 15)
        while time < Self.disturbance {
            breakSomething(after: time)
            time += random.duration(in: .milliseconds(1)...pace)
        }
        repair(after: Self.disturbance)
    }

    /// Ends all faults. Each server is then dead with a chance of 30 % and correct otherwise. Hosts keep the addresses
    /// that they took from plugs, and the denying host of a hopeless house still denies every address.
    private mutating func repair(after time: Duration) {
        house.schedule(.happening(.faults(.none)), after: time)
        house.schedule(.happening(.merge), after: time)
        if !isHopeless { house.schedule(.happening(.deny(host: 2, false)), after: time) }
        house.schedule(.happening(.mirror(host: 2, false)), after: time)
        for server in house.servers.indices {
            let manner: ScriptedServer.Manner = random.chance(0.3) ? .dead : .correct
            house.schedule(.happening(.server(server, manner)), after: time)
        }
    }

    private mutating func breakSomething(after time: Duration) {
        let end = min(time + random.duration(in: .milliseconds(1)...(.seconds(60))), Self.disturbance)
        let plug = Int.random(in: 0..<house.plugs.count, using: &random)
        let server = house.servers.indices.randomElement(using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0...1:
            let slow: Duration = .milliseconds(random.chance(0.5) ? 2 : 300)
            let faults = LinkFaults(
                loss: Double.random(in: 0...0.4, using: &random),
                duplication: Double.random(in: 0...0.3, using: &random), delay: .microseconds(50)...slow,
                reordering: Double.random(in: 0...0.2, using: &random))
            house.schedule(.happening(.faults(faults)), after: time)
        case 2:
            let groups = house.segment.stations.map { _ in Int.random(in: 0...1, using: &random) }
            breakUntil(end, .partition(groups), .merge, time)
        case 3: breakUntil(end, .linkDown(plug), .linkUp(plug), time)
        case 4:
            // An Ethernet switch loses power, so several plugs lose their link.
            for plug in house.plugs.indices where random.chance(0.3) {
                breakUntil(end, .linkDown(plug), .linkUp(plug), time)
            }
        case 5: breakUntil(end, .powerCut(plug), .powerOn(plug), time)
        case 6: house.schedule(.happening(.restart(plug)), after: time)
        case 7: breakUntil(end, .connect(plug, true), .connect(plug, false), time)
        case 8: house.schedule(.happening(.resume(plug)), after: time)
        case 9: house.schedule(.happening(.steal(host: 2, from: plug)), after: time)
        case 10: breakUntil(end, .deny(host: 2, true), .deny(host: 2, isHopeless), time)
        case 11: breakUntil(end, .mirror(host: 2, true), .mirror(host: 2, false), time)
        case 12:
            let card = MACAddress(2, 0, 0, 0, 0xAA, UInt8.random(in: 0...255, using: &random))
            let isFree = !house.plugs.contains { $0.hardware == card }
            if isFree, cards.insert(card).inserted { house.schedule(.happening(.newCard(plug, card)), after: time) }
        default:
            guard let server else { return }
            let manner = ScriptedServer.Manner.allCases.randomElement(using: &random)!
            breakUntil(end, .server(server, manner), .server(server, .correct), time)
            if random.chance(0.3) { house.schedule(.happening(.serverForgets(server)), after: end) }
        }
    }

    private var cards: Set<MACAddress> = []

    private func breakUntil(_ end: Duration, _ fault: Happening, _ repair: Happening, _ time: Duration) {
        house.schedule(.happening(fault), after: time)
        house.schedule(.happening(repair), after: end)
    }
}
