import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy

extension FuzzTarget {
    /// Checks that a valid registration is unchanged when written and read again, and that its parts fit into messages.
    static let sleepRegistration = FuzzTarget(
        name: "sleep-registration",
        seeds: { FuzzedSleeper.registrations },
        check: { bytes in
            guard let registration = try? SleepRegistration(decoding: bytes) else { return false }
            // Names that used compression pointers may be written in full, so the message may no longer fit.
            guard let written = try? registration.encoded() else { return true }
            try require(try SleepRegistration(decoding: written) == registration, "the registration changes")
            guard let messages = try? registration.messages(limit: 2000) else { return true }
            let parts = try messages.map { try SleepRegistration(decoding: $0.bytes) }
            try require(parts.flatMap(\.records) == registration.records, "the parts have other records")
            try require(messages.allSatisfy { $0.bytes.count <= 2000 }, "a part is too long")
            return true
        })

    /// Checks that stored sleepers are unchanged when written and read again. The checksum is added to the input.
    static let storedSleepers = FuzzTarget(
        name: "stored-sleepers",
        seeds: { [Array(FuzzedSleeper.stored.dropLast(4))] },
        check: { bytes in
            let checksum = StoredSleepers.checksum(bytes[...])
            let sealed = bytes + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) }
            guard let stored = try? StoredSleepers(decoding: sealed) else { return false }
            try require(try StoredSleepers(decoding: stored.encoded) == stored, "the sleepers change")
            var link = FuzzedSleepLink(stored: stored)
            try link.wait(.seconds(20))
            return true
        })

    /// Drives the sleep proxy of a link with arbitrary frames, registrations, messages and events. The number of
    /// sleepers and of packets is bounded, each magic packet has a cause, and the proxy never claims its own address or
    /// the router's.
    static let sleepProxy = FuzzTarget(
        name: "sleep-proxy",
        seeds: { FuzzedSleeper.courses },
        check: { bytes in
            var link = FuzzedSleepLink(stored: nil)
            for step in datagrams(in: bytes).prefix(200) {
                guard let kind = step.first else { continue }
                try link.take(FuzzedSleepLink.Step(rawValue: kind % 10)!, Array(step.dropFirst()))
            }
            try link.wait(.seconds(90))
            return link.wasRegistered
        })
}

/// A link with one proxy and one host, which answers ARP while it is awake.
private struct FuzzedSleepLink {
    enum Step: UInt8 {
        case frame, registration, heard, wait, linkDown, linkUp, proxies, conflict, restart, toggleHost
    }

    private static let router = IPAddress.v4(192, 168, 1, 1)
    private static let link = ProxyLink(
        interface: 3, hardware: FuzzedSleeper.plug,
        addresses: [
            InterfaceAddress(.v4(192, 168, 1, 2), prefixLength: 24),
            InterfaceAddress(.v6(IPv6Address(high: 0xFE80 << 48, low: 2)), prefixLength: 64),
        ], infrastructure: [router], names: ["plug.local"])
    private static let metrics = SleepProxyName.Metrics(
        type: 50, portability: 50, marginalPower: 50, totalPower: 50)

    private var proxy: SleepProxy
    private var now = FuzzedPlug.now
    private var isAwake = true
    private var stored: StoredSleepers?
    private var published: [GroupID: RecordGroup] = [:]
    private var answers: [[UInt8]] = []
    private var wakes = 0
    private(set) var wasRegistered = false

    init(stored: StoredSleepers?) {
        proxy = SleepProxy(random: SeededRandom(seed: 1), metrics: Self.metrics, stored: stored)
        now = FuzzedPlug.now
        for action in proxy.handle(.linkChanged(Self.link), now: now) {
            if case .save(let stored) = action { self.stored = stored }
        }
    }

    mutating func take(_ step: Step, _ data: [UInt8]) throws(FuzzFailure) {
        switch step {
        case .frame: try handle(.frame(data))
        case .registration:
            try handle(.registration(data, from: Peer(address: .v4(FuzzedSleeper.address), port: 5000)))
        case .heard:
            let source = IPAddress.v4(192, 168, 1, data.first ?? 0)
            let datagram = InboundDatagram(
                bytes: Array(data.dropFirst()), interface: 3, source: source, sourcePort: 5353, wasMulticast: true)
            if let message = try? InboundMessage(datagram) { try handle(.heard(message)) }
        case .wait: try wait(.milliseconds(100 * Int(data.first ?? 1)))
        case .linkDown: try handle(.linkChanged(nil))
        case .linkUp: try handle(.linkChanged(Self.link))
        case .proxies: try handle(.proxies([SleepProxyName(String(decoding: data, as: UTF8.self))].compactMap { $0 }))
        case .conflict: if let group = published.keys.min() { try handle(.conflicted(group)) }
        case .restart:
            published = [:]
            wakes = 0
            proxy = SleepProxy(random: SeededRandom(seed: 2), metrics: Self.metrics, stored: stored)
            try handle(.linkChanged(Self.link))
        case .toggleHost: isAwake.toggle()
        }
    }

    mutating func wait(_ time: Duration) throws(FuzzFailure) {
        let end = now + time
        var calls = 0
        while true {
            if !answers.isEmpty {
                try handle(.frame(answers.removeFirst()))
                continue
            }
            guard let next = proxy.nextDeadline, next <= end else { break }
            calls += 1
            try require(calls < 20_000, "the machine sets deadlines in a loop")
            now = max(now, next)
            try handle(.deadlineReached)
        }
        now = end
    }

    private mutating func handle(_ event: SleepProxy.Event) throws(FuzzFailure) {
        let actions = proxy.handle(event, now: now)
        var magic = 0
        for action in actions {
            switch action {
            case .send(let bytes):
                if Array(bytes[12..<14]) == [0x08, 0x42], bytes[0] == 0xFF { magic += 1 }
                try check(bytes)
            case .publish(let id, let group, _):
                wasRegistered = true
                try require(group.name != "plug.local", "the plug's name is published")
                published[id] = group
            case .withdraw(let id, _):
                try require(published.removeValue(forKey: id) != nil, "a group is withdrawn twice")
            case .save(let stored): self.stored = stored
            case .answer(let bytes, _): try require(bytes.count < 60, "an answer of \(bytes.count) bytes")
            case .capture, .note: break
            }
        }
        let report = proxy.report
        let total = report.wakes.values.reduce(0, +)
        try require(actions.count < 2000, "\(actions.count) actions")
        try require(report.sleepers.count <= 128, "\(report.sleepers.count) sleepers")
        try require(report.histories.count <= 256, "\(report.histories.count) histories")
        try require(report.histories.allSatisfy { $0.slept >= .zero }, "a sleep of negative duration")
        try require(magic == 0 || total > 0, "a magic packet without a wake")
        try require(total >= wakes, "the number of wakes decreases")
        wakes = total
        if let next = proxy.nextDeadline {
            try require(
                next > now - .seconds(1),
                "a deadline \(now - next) in the past"
            )
        }
    }

    /// Checks a frame of the proxy, and answers for the host.
    private mutating func check(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let frame = try? EthernetFrame(decoding: bytes), frame.type == EthernetFrame.arp else { return }
        guard let packet = try? ARPPacket(decoding: frame.payload) else { throw FuzzFailure("an invalid ARP packet") }
        let isClaim = packet.senderAddress == packet.targetAddress || packet.operation == .reply
        try require(!isClaim || packet.senderAddress != IPv4Address(192, 168, 1, 2), "the plug's address is claimed")
        try require(!isClaim || .v4(packet.senderAddress) != Self.router, "the router's address is claimed")
        guard isAwake, packet.operation == .request, packet.targetAddress == FuzzedSleeper.address, !isClaim else {
            return
        }
        let answer = ARPPacket.reply(to: packet, from: FuzzedSleeper.card)
        answers.append(
            EthernetFrame(
                destination: packet.senderHardware, source: FuzzedSleeper.card, type: EthernetFrame.arp,
                payload: answer.encoded
            ).encoded)
    }
}

/// Realistic inputs.
private enum FuzzedSleeper {
    static let plug = MACAddress(2, 0, 0, 0, 0, 1)
    static let card = MACAddress(2, 0, 0, 0, 0, 16)
    static let address = IPv4Address(192, 168, 1, 16)
    private static let host: Name = "nas.local"
    private static let instance: Name = "nas._smb._tcp.local"
    private static let records = [
        Record(name: host, isCacheFlush: true, timeToLive: 120, data: .a(address)),
        Record(
            name: instance, isCacheFlush: true, timeToLive: 120,
            data: .srv(priority: 0, weight: 0, port: 445, target: host)),
        Record(name: instance, isCacheFlush: true, timeToLive: 4500, data: .txt([0])),
        Record(name: "_smb._tcp.local", timeToLive: 4500, data: .ptr(instance)),
        Record(name: "16.1.168.192.in-addr.arpa", timeToLive: 120, data: .ptr(host)),
    ]

    private static func registration(_ sequence: UInt8, password: [UInt8] = [], lease: UInt32 = 60) -> [UInt8] {
        let owner = OwnerOption(
            sequence: sequence, primary: card, wakeup: password.isEmpty ? nil : card,
            password: WakePassword(bytes: password))
        let registration = SleepRegistration(id: 7, records: records, owner: owner, lease: lease)
        return (try? registration.encoded()) ?? []
    }

    static var registrations: [[UInt8]] {
        [registration(1), registration(2, password: [1, 2, 3, 4]), registration(3, password: [1, 2, 3, 4, 5, 6])]
    }

    /// The stored form of a proxy with one sleeper.
    static var stored: [UInt8] {
        let metrics = SleepProxyName.Metrics(type: 50, portability: 50, marginalPower: 50, totalPower: 50)
        var proxy = SleepProxy(random: SeededRandom(seed: 1), metrics: metrics)
        let link = ProxyLink(
            interface: 3, hardware: plug, addresses: [InterfaceAddress(.v4(192, 168, 1, 2), prefixLength: 24)])
        _ = proxy.handle(.linkChanged(link), now: FuzzedPlug.now)
        let peer = Peer(address: .v4(address), port: 5000)
        _ = proxy.handle(.registration(registration(1), from: peer), now: FuzzedPlug.now)
        let answer = frame(.announcement(of: address, from: card), from: card)
        _ = proxy.handle(.frame(answer), now: FuzzedPlug.now)
        for case .save(let stored) in proxy.handle(.deadlineReached, now: FuzzedPlug.now + .seconds(1)) {
            return stored.encoded
        }
        return []
    }

    private static func frame(_ packet: ARPPacket, from card: MACAddress) -> [UInt8] {
        EthernetFrame(destination: .broadcast, source: card, type: EthernetFrame.arp, payload: packet.encoded).encoded
    }

    private static func step(_ step: FuzzedSleepLink.Step, _ data: [UInt8] = []) -> [UInt8] { [step.rawValue] + data }

    static var courses: [[UInt8]] {
        let client = MACAddress(2, 0, 0, 0, 0, 99)
        let other = TracedEndpoint([192, 168, 1, 99], 50_000)
        let packet = InternetPacket.tcp(
            from: other, to: TracedEndpoint(address.bytes, 445), .syn, sequence: 1, acknowledgement: 0)
        let connection = EthernetFrame(destination: plug, source: client, type: EthernetFrame.ipv4, payload: packet)
        let request = ARPPacket(
            operation: .request, senderHardware: client, senderAddress: IPv4Address(192, 168, 1, 99),
            targetHardware: .zero, targetAddress: address)
        let announcement = Message(flags: [.response, .authoritative], answers: records)
        let heard = (try? announcement.encoded()) ?? []
        let asleep = [
            step(.heard, [16] + heard), step(.registration, registration(1)), step(.wait, [2]), step(.toggleHost),
            step(.wait, [60]),
        ]
        let woken = [
            step(.frame, frame(request, from: client)), step(.frame, connection.encoded), step(.wait, [30]),
            step(.frame, frame(.announcement(of: address, from: card), from: card)), step(.wait, [20]),
        ]
        let conflict = frame(.announcement(of: address, from: client), from: client)
        return [
            asleep + woken, asleep + [step(.restart), step(.wait, [90])] + woken,
            asleep + [
                step(.frame, conflict), step(.wait, [255]), step(.wait, [255]), step(.conflict), step(.wait, [99]),
            ],
            asleep + [
                step(.proxies, Array("10-10-10-10 Router".utf8)), step(.linkDown), step(.linkUp), step(.wait, [250]),
                step(.wait, [250]), step(.wait, [250]), step(.heard, [16] + heard),
            ],
            [step(.heard, [17] + heard), step(.registration, registration(1)), step(.wait, [20])]
                + asleep + [step(.toggleHost), step(.registration, registration(2)), step(.wait, [20])],
        ].map { framed($0) }
    }
}
