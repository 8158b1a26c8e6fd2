import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

/// A computer that registers before it sleeps.
struct TestSleeper {
    var card = MACAddress(2, 0, 0, 0, 0, 0x10)
    var primary: MACAddress?
    var address = IPv4Address(192, 168, 1, 16)
    var addressV6: IPv6Address? = IPv6Address(high: 0xFE80 << 48, low: 0x10)
    var name = "nas"
    var sequence: UInt8 = 5
    var port: UInt16 = 445
    var udpPort: UInt16 = 7000
    var password: WakePassword?
    var lease: UInt32 = 3600
    var id: UInt16 = 77

    /// The sleeper with this number, which differs from all others.
    static func numbered(_ number: UInt8) -> TestSleeper {
        TestSleeper(
            card: MACAddress(2, 0, 0, 0, 1, number), address: IPv4Address(192, 168, 1, number),
            addressV6: IPv6Address(high: 0xFE80 << 48, low: 0x100 + UInt64(number)), name: "host\(number)")
    }

    var host: Name { try! Name(presentation: "\(name).local") }
    var instance: Name { try! Name(presentation: "\(name)._smb._tcp.local") }
    var addresses: [IPAddress] { [.v4(address)] + (addressV6.map { [.v6($0)] } ?? []) }
    var peer: Peer { Peer(address: .v4(address), port: 50_001) }
    var owner: OwnerOption {
        OwnerOption(
            sequence: sequence, primary: primary ?? card, wakeup: primary == nil ? nil : card, password: password)
    }
    var machine: VirtualLink.Host { VirtualLink.Host(card: card, addresses: addresses) }

    var records: [Record] {
        let stream = try! Name(presentation: "\(name)._stream._udp.local")
        return addresses.map {
            Record(name: host, isCacheFlush: true, timeToLive: 120, data: RecordData($0))
        } + [
            Record(
                name: instance, isCacheFlush: true, timeToLive: 120,
                data: .srv(priority: 0, weight: 0, port: port, target: host)),
            Record(name: instance, isCacheFlush: true, timeToLive: 4500, data: .txt([3, 0x61, 0x3D, 0x62])),
            Record(name: "_smb._tcp.local", timeToLive: 4500, data: .ptr(instance)),
            Record(name: "_services._dns-sd._udp.local", timeToLive: 4500, data: .ptr("_smb._tcp.local")),
            Record(
                name: stream, isCacheFlush: true, timeToLive: 120,
                data: .srv(priority: 0, weight: 0, port: udpPort, target: host)),
            Record(name: "_stream._udp.local", timeToLive: 4500, data: .ptr(stream)),
        ]
    }

    var registration: SleepRegistration {
        SleepRegistration(id: id, records: records, owner: owner, lease: lease)
    }

    func event(_ records: [Record]? = nil, from peer: Peer? = nil, owner: OwnerOption? = nil) -> SleepProxy.Event {
        var registration = registration
        if let records { registration.records = records }
        if let owner { registration.owner = owner }
        return .registration(try! registration.encoded(), from: peer ?? self.peer)
    }

    /// An announcement of these records, or of all records of the sleeper.
    func announcement(from source: IPAddress? = nil, owner: OwnerOption? = nil, _ records: [Record]? = nil)
        -> SleepProxy.Event
    {
        var message = Message(flags: [.response, .authoritative], answers: records ?? self.records)
        if let owner { message.additionals = [OptionsRecord(options: [.owner(owner)]).record] }
        let datagram = InboundDatagram(
            bytes: try! message.encoded(), interface: VirtualLink.link.interface, source: source ?? .v4(address),
            sourcePort: RFC6762.port, wasMulticast: true)
        return .heard(try! InboundMessage(datagram))
    }
}

extension VirtualLink {
    /// Registers the sleeper, and runs until the proxy has answered.
    mutating func register(_ sleeper: TestSleeper) {
        if !hosts.contains(where: { $0.card == sleeper.card }) { hosts.append(sleeper.machine) }
        handle(sleeper.event())
        run(.milliseconds(40))
    }

    /// Registers the sleeper, which falls asleep, and waits until the proxy represents it.
    mutating func putToSleep(_ sleeper: TestSleeper) {
        register(sleeper)
        setAwake(sleeper, false)
        run(.seconds(10))
    }

    mutating func setAwake(_ sleeper: TestSleeper, _ isAwake: Bool) {
        for place in hosts.indices where hosts[place].card == sleeper.card { hosts[place].isAwake = isAwake }
    }

    /// The client that connects to sleepers.
    static let client = MACAddress(2, 0, 0, 0, 0, 0x99)
    static let clientV4 = IPv4Address(192, 168, 1, 99)

    /// Delivers a TCP SYN for the sleeper's address, in a frame to the proxy's card.
    mutating func connect(to sleeper: TestSleeper, port: UInt16? = nil) {
        deliver(
            Frames.segment(
                .syn, to: .v4(sleeper.address), port: port ?? sleeper.port, from: Self.client, .v4(Self.clientV4)))
    }

    /// The state of the sleeper, or nil if the proxy does not know it.
    func state(of sleeper: TestSleeper) -> SleepProxyReport.Sleeper.State? {
        proxy.report.sleepers.first { $0.identity.card == sleeper.card }?.state
    }
}

extension [SleepProxy.Action] {
    var answers: [SleepRegistrationAnswer] {
        compactMap { if case .answer(let bytes, _) = $0 { try? SleepRegistrationAnswer(decoding: bytes) } else { nil } }
    }

    var notes: [SleepNote] { compactMap { if case .note(let note) = $0 { note } else { nil } } }

    var refusals: [RefusalReason] {
        notes.compactMap { if case .refused(let reason, _) = $0 { reason } else { nil } }
    }

    var frames: [[UInt8]] { compactMap { if case .send(let bytes) = $0 { bytes } else { nil } } }

    /// The cards to which magic packets were sent as broadcasts.
    var wakes: [MACAddress] {
        frames.filter { $0.count >= 116 && $0[12] == 0x08 && $0[13] == 0x42 && $0[0] == 0xFF }
            .compactMap { MACAddress(bytes: $0[20..<26]) }
    }

    var withdrawals: [Bool] {
        compactMap { if case .withdraw(_, let goodbye) = $0 { goodbye } else { nil } }
    }

    /// The names that were published. The value is false if the name is published with probing.
    var publications: [Name: Bool] {
        reduce(into: [:]) { names, action in
            if case .publish(_, let group, let isVerified) = action { names[group.name] = isVerified }
        }
    }
}
