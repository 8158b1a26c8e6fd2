import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepClient

/// A host with scripted sleep proxies in virtual time. Packets take 1 ms.
struct VirtualLink {
    /// The behaviour of a proxy.
    enum Manner {
        /// Accepts each registration after this time.
        case accepts(after: Duration, lease: UInt32 = 7200)
        case refuses(SleepRegistrationAnswer.Code)
        /// Loses this many messages, then accepts.
        case loses(Int)
        case silent
        /// Accepts each registration, but answers from a different address.
        case answersFrom(Peer)
    }

    struct Proxy {
        let found: FoundSleepProxy
        var manner: Manner
        var received: [SleepRegistration] = []
    }

    var client = SleepClient(random: SeededRandom(seed: 3), sequence: 9)
    var now = Instant.zero
    var proxies: [Proxy] = []
    private var answers: [(due: Instant, bytes: [UInt8], from: Peer, interface: InterfaceID)] = []
    private(set) var ready: [(time: Instant, outcomes: [String: SleepOutcome])] = []
    private(set) var takeOvers: [(time: Instant, owner: OwnerOption, interface: InterfaceID)] = []
    private(set) var lines: [String] = []

    static let card = MACAddress(2, 0, 0, 0, 0, 0x11)
    static let host: Name = "laptop.local"
    static let service: Name = "House._https._tcp.local"
    static let records = [
        Record(name: host, isCacheFlush: true, timeToLive: 120, data: RecordData(.v4(192, 0, 2, 9))),
        Record(
            name: service, isCacheFlush: true, timeToLive: 120,
            data: .srv(priority: 0, weight: 0, port: 7580, target: host)),
        Record(name: "_https._tcp.local", timeToLive: 4500, data: .ptr(service)),
    ]

    static func link(_ interface: InterfaceID = 2, _ card: MACAddress = card, records: [Record] = records)
        -> SleepingLink
    {
        SleepingLink(interface: interface, name: "eth\(interface)", card: card, records: records)
    }

    mutating func add(_ text: String, at last: UInt8, on interface: InterfaceID = 2, _ manner: Manner) {
        guard let name = SleepProxyName(text) else { preconditionFailure("\(text) is not a proxy's name") }
        let peer = Peer(address: .v4(192, 0, 2, last), port: 4000)
        proxies.append(Proxy(found: FoundSleepProxy(name: name, peer: peer, interface: interface), manner: manner))
        send(.proxies(proxies.map(\.found)))
    }

    mutating func suspend(_ links: [SleepingLink] = [link()], limit: Duration = .seconds(5)) {
        send(.suspending(links, limit: limit))
    }

    mutating func send(_ event: SleepClient.Event) {
        for action in client.handle(event, now: now) {
            switch action {
            case .send(let bytes, let peer, let interface): deliver(bytes, to: peer, interface)
            case .ready(let outcomes): ready.append((now, outcomes))
            case .takeOver(let owner, let interface): takeOvers.append((now, owner, interface))
            case .report(let line), .summary(let line, _): lines.append(line)
            }
        }
    }

    private mutating func deliver(_ bytes: [UInt8], to peer: Peer, _ interface: InterfaceID) {
        guard let index = proxies.firstIndex(where: { $0.found.peer == peer && $0.found.interface == interface }),
            let registration = try? SleepRegistration(decoding: bytes)
        else { preconditionFailure("the client sent an unreadable message, or to an unknown address") }
        proxies[index].received.append(registration)
        var (code, lease, delay, source) = (SleepRegistrationAnswer.Code.success, UInt32?(7200), Duration.zero, peer)
        switch proxies[index].manner {
        case .accepts(let after, let granted): (delay, lease) = (after, granted)
        case .refuses(let refusal): (code, lease) = (refusal, nil)
        case .loses(let count) where count > 0:
            proxies[index].manner = .loses(count - 1)
            return
        case .loses: break
        case .silent: return
        case .answersFrom(let other): source = other
        }
        let answer = SleepRegistrationAnswer(id: registration.id, code: code, lease: lease)
        answers.append((now + delay + .milliseconds(2), answer.encoded, source, interface))
    }

    /// Runs until this much time has passed.
    mutating func run(for time: Duration) {
        let end = now + time
        while true {
            let answer = answers.min { $0.due < $1.due }?.due
            guard let next = sooner(answer, client.nextDeadline), next <= end else { break }
            now = max(now, next)
            if let index = answers.firstIndex(where: { $0.due <= now }) {
                let answer = answers.remove(at: index)
                send(.answer(answer.bytes, from: answer.from, interface: answer.interface))
            } else {
                send(.deadlineReached)
            }
        }
        now = end
    }

    var outcome: SleepOutcome? { ready.last?.outcomes["eth2"] }
    var readyAfter: Duration? { ready.last.map { $0.time - .zero } }
}
