import DNSWire
import ProtocolCore
import ServiceDiscovery
import UnicastDNS

extension FuzzTarget {
    /// Sends the messages of a name server to a machine that registers a service. Each datagram, with a two-byte length
    /// in front, answers the open request with its identifier: first as it is, which the signature must reject, and then
    /// as if it were signed. The machine sends only valid messages, one at a time, and stops when it must. The input is
    /// valid if the service is registered.
    static let zoneServer = FuzzTarget(
        name: "zone-server",
        seeds: { ZoneServerLink.seeds },
        check: { bytes in
            var link = try ZoneServerLink()
            for datagram in datagrams(in: bytes).prefix(32) { try link.answer(with: datagram) }
            try link.stop()
            return link.isRegistered
        })
}

/// A machine that registers a service with one server, in virtual time.
private struct ZoneServerLink {
    private static let lamp: Name = "Lamp._smartplug._tcp.example.org"

    /// The messages of a server with a free name, and of a server with a name that another host has.
    static let seeds: [[UInt8]] = {
        func response(_ code: UInt16, _ answers: [Record] = []) -> [UInt8] {
            let message = Message(
                flags: MessageFlags(rawValue: MessageFlags.response.rawValue | code), answers: answers,
                additionals: [OptionsRecord(options: [.updateLease(UpdateLeaseOption(lease: 300))]).record])
            return (try? message.encoded()) ?? []
        }
        func location(_ host: Name) -> Record {
            Record(name: lamp, timeToLive: 60, data: .srv(priority: 0, weight: 0, port: 1, target: host))
        }
        return [
            framed([response(0), response(8), response(0)]),
            framed([response(6), response(0, [location("other.example.org")]), response(0)]),
            framed([response(6), response(0, [location("plug.example.org")]), response(0)]),
        ]
    }()

    private(set) var isRegistered = false
    private let key: TransactionKey
    private var machine = ZoneRegistrar(zone: "example.org", random: SeededRandom(seed: 1))
    private var open: (id: ExchangeID, bytes: [UInt8])?
    private var isStopped = false
    private var now = Instant.zero

    init() throws {
        guard let key = TransactionKey(name: "plugs", secret: Array(0..<32)) else { throw FuzzFailure("no key") }
        self.key = key
        let service = try ServiceRegistration(name: "Lamp", type: "_smartplug._tcp", hostName: "plug", port: 4711)
        try handle(.publish(ZoneService(service, addresses: [.v4(192, 0, 2, 7)])))
    }

    mutating func answer(with datagram: [UInt8]) throws {
        if open == nil, let deadline = machine.nextDeadline {
            now = max(now, deadline)
            try handle(.deadlineReached)
        }
        guard let (id, request) = open else { return }
        let answer = Array(request.prefix(2)) + datagram.dropFirst(2)
        let isAccepted = (try? key.sign(request, at: 0)?.verify(answer, at: 0)) != nil
        try require(!isAccepted, "a response without a valid signature was accepted")
        if let message = try? Message(decoding: answer) {
            try handle(.replied(id, message))
        } else {
            try handle(.failed(id, .signature(.unsigned)))
        }
    }

    mutating func stop() throws {
        try handle(.stop)
        for _ in 0..<4 where !isStopped {
            now = now + Duration.seconds(2)
            try handle(.deadlineReached)
        }
        try require(isStopped && open == nil && machine.nextDeadline == nil, "the machine did not stop")
    }

    private mutating func handle(_ event: ZoneRegistrar.Event) throws {
        for action in machine.handle(event, now: now) {
            switch action {
            case .send(let id, let bytes):
                try require(open == nil, "two requests are open")
                try require((try? Message(decoding: bytes)) != nil, "an invalid message was sent")
                open = (id, bytes)
            case .close(let id):
                try require(open?.id == id, "an unknown connection is closed")
                open = nil
            case .registered: isRegistered = true
            case .failed: break
            case .stopped: isStopped = true
            }
        }
    }
}
