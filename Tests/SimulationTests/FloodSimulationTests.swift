import DNSWire
import Foundation
import MulticastDNS
import PlugClient
import PlugModel
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Testing

/// Plugs that a controller has paired, on a link with a stranger. Before, while and after the plugs start, the stranger
/// announces plugs that do not exist.
private struct FloodedHouse {
    struct Broken: Error, CustomStringConvertible { let description: String }

    private static let type: ServiceType = "_smartplug._tcp"
    private static let link: UInt32 = 2
    private static let browse = BrowseID(rawValue: 1)
    private static let strangerHost: UInt8 = 200

    private var random: SeededRandom
    private var now = Instant.zero
    /// The plugs' nodes, followed by the controller's node.
    private var nodes: [DiscoveryNode] = []
    private var inFlight = EventQueue<(sender: UInt8, bytes: [UInt8])>()
    private var directory = PlugDirectory()
    private var favoured: Set<String> = []
    private var told: Set<String> = []
    private var places: [String: ResolvedService] = [:]
    private var resolves: [ResolveID: String] = [:]
    private var lastResolve: UInt64 = 0
    private let loss: Double
    private let plugs: Int

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        loss = random.chance(0.5) ? 0 : 0.2
        plugs = Int.random(in: 1...4, using: &random)
        for _ in 0...plugs { nodes.append(DiscoveryNode(random: random.split())) }
    }

    private func id(_ plug: Int) -> PlugID { PlugID(rawValue: "00000000000\(plug)")! }
    /// The name that the plug announces, which the controller knows.
    private func name(_ plug: Int) -> String { "Plug \(plug)" }

    mutating func live() throws {
        let controller = nodes.count - 1
        for node in nodes.indices {
            let address = InterfaceAddress(.v4(10, 0, 0, UInt8(node + 1)), prefixLength: 24)
            send(
                .interfaceChanged(
                    NetworkInterface(id: Self.link, name: "lan", addresses: [address], families: [.v4])), to: node)
        }
        let paired = Dictionary(uniqueKeysWithValues: (0..<plugs).map { (id($0), name($0)) })
        follow(directory.prioritize(paired, now: now))
        send(.browse(Self.browse, Self.type), to: controller)
        var waiting = Array(0..<plugs)
        // The flood fills every cache and list. Plugs start between its portions.
        for _ in 0..<6 {
            if random.chance(0.5), let plug = waiting.popLast() { try begin(plug) }
            try flood(250)
            run(for: random.duration(in: .zero ... .seconds(5)))
        }
        for plug in waiting { try begin(plug) }
        try flood(250)
        run(for: .seconds(60))
        for plug in 0..<plugs { try check(plug) }
    }

    private mutating func begin(_ plug: Int) throws {
        let registration = try ServiceRegistration(
            name: name(plug), type: Self.type, hostName: "host-\(plug)", port: UInt16(7000 + plug),
            txt: TXTRecord(["id": id(plug).rawValue]))
        send(.register(RegistrationID(rawValue: 1), registration), to: plug)
    }

    /// Announces false plugs. About three of ten claim the id of the first paired plug, and the others an unknown id.
    private mutating func flood(_ count: Int) throws {
        for _ in 0..<count {
            let name = "False \(random.next())"
            let id = random.chance(0.3) ? id(0).rawValue : "ffffffffffff"
            let type: Name = "_smartplug._tcp.local"
            let instance = try type.prepending(label: Array(name.utf8))
            let host = try Name(presentation: "false-\(random.next()).local")
            let message = Message(
                flags: [.response, .authoritative],
                answers: [
                    Record(name: type, timeToLive: 4500, data: .ptr(instance)),
                    Record(
                        name: instance, isCacheFlush: true, timeToLive: 120,
                        data: .srv(priority: 0, weight: 0, port: 9, target: host)),
                    Record(
                        name: instance, isCacheFlush: true, timeToLive: 4500,
                        data: .txt(try TXTRecord(["id": id]).encoded)),
                    Record(name: host, isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(10, 0, 0, 250))),
                ])
            inFlight.schedule(
                (Self.strangerHost, try message.encoded()), at: now + random.duration(in: .zero ... .seconds(1)))
        }
    }

    private func check(_ plug: Int) throws {
        let name = name(plug)
        guard told.contains(name) else { throw Broken(description: "\"\(name)\" was not reported") }
        guard let place = places[name], place.port == UInt16(7000 + plug),
            place.addresses.map(\.address) == [.v4(10, 0, 0, UInt8(plug + 1))]
        else { throw Broken(description: "\"\(name)\" is at \(places[name].map { "\($0)" } ?? "no place")") }
    }

    // MARK: The link

    private mutating func send(_ event: DiscoveryNode.Event, to node: Int) {
        for action in nodes[node].handle(event, now: now) {
            switch action {
            case .send(let datagram):
                inFlight.schedule(
                    (UInt8(node + 1), datagram.bytes),
                    at: now + random.duration(in: .microseconds(100) ... .milliseconds(2)))
            case .browse(_, let change): follow(directory.handle(change, now: now))
            case .resolved(let id, let service): if let name = resolves[id] { places[name] = service }
            case .unresolved(let id): if let name = resolves[id] { places[name] = nil }
            case .displaced(let id): resolves[id] = nil
            case .registered, .nameTaken, .types, .conflicted, .heard: break
            }
        }
    }

    /// Acts as the controller does: resolves each reported plug for as long as it exists.
    private mutating func follow(_ changes: [PlugDirectory.Change]) {
        let controller = nodes.count - 1
        if directory.favoured != favoured {
            favoured = directory.favoured
            send(.prioritize(Set(favoured.map { ServiceIdentity(name: $0, type: Self.type) })), to: controller)
        }
        for change in changes {
            switch change {
            case .appeared(let name):
                told.insert(name)
                lastResolve += 1
                resolves[ResolveID(rawValue: lastResolve)] = name
                send(
                    .resolve(ResolveID(rawValue: lastResolve), ServiceIdentity(name: name, type: Self.type)),
                    to: controller)
            case .disappeared(let name):
                told.remove(name)
                for id in resolves.filter({ $0.value == name }).keys {
                    resolves[id] = nil
                    send(.cancelResolve(id), to: controller)
                }
            case .renewed: break
            }
        }
    }

    private mutating func run(for duration: Duration) {
        let end = now + duration
        while true {
            let deadline = nodes.reduce(nil) { sooner($0, $1.nextDeadline) }
            guard let next = sooner(inFlight.nextTime, deadline), next <= end else { break }
            now = max(now, next)
            if let time = inFlight.nextTime, time <= now, let (_, packet) = inFlight.next() { deliver(packet) }
            for node in nodes.indices where nodes[node].nextDeadline.map({ $0 <= now }) == true {
                send(.deadlineReached, to: node)
            }
        }
        now = end
    }

    private mutating func deliver(_ packet: (sender: UInt8, bytes: [UInt8])) {
        for node in nodes.indices where UInt8(node + 1) != packet.sender && !random.chance(loss) {
            send(
                .received(
                    InboundDatagram(
                        bytes: packet.bytes, interface: Self.link, source: .v4(10, 0, 0, packet.sender),
                        sourcePort: RFC6762.port, wasMulticast: true)), to: node)
        }
    }
}

@Suite struct FloodSimulationTests {
    private static let seeds = SeedPlan(environment: ProcessInfo.processInfo.environment, sampled: 6).seeds

    @Test("A controller finds its paired plugs among a flood of false announcements", arguments: seeds)
    func pairedPlugsAreFoundAmongFalseOnes(seed: UInt64) throws {
        var house = FloodedHouse(seed: seed)
        try house.live()
    }
}
