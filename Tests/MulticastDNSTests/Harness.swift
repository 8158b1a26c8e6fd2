import DNSWire
import MulticastDNS
import ProtocolCore

let ethernet = NetworkInterface(
    id: 2, name: "eth0", addresses: [InterfaceAddress(.v4(10, 0, 0, 1), prefixLength: 24)])
let stranger = Peer(address: .v4(10, 0, 0, 99), port: RFC6762.port)

/// A machine in virtual time, and all its actions with their times.
struct Harness<M: Machine> {
    var machine: M
    var now = Instant.zero
    var log: [(time: Instant, action: M.Action)] = []

    init(_ machine: M) { self.machine = machine }

    mutating func send(_ event: M.Event) {
        for action in machine.handle(event, now: now) { log.append((now, action)) }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            send(.deadlineReached)
        }
        now = end
    }

    /// Clears the log.
    mutating func clear() { log = [] }
}

/// Returns a message as it arrives: encoded and decoded.
func inbound(
    _ message: Message, from source: Peer = stranger, on interface: InterfaceID = 2, wasMulticast: Bool = true
) throws -> InboundMessage {
    try InboundMessage(
        InboundDatagram(
            bytes: message.encoded(), interface: interface, source: source.address, sourcePort: source.port,
            wasMulticast: wasMulticast))
}

func response(_ answers: [Record], _ additionals: [Record] = []) -> Message {
    Message(flags: [.response, .authoritative], answers: answers, additionals: additionals)
}

func ask(_ name: Name, _ type: RecordType, known: [Record] = [], wantsUnicast: Bool = false) -> Message {
    Message(questions: [Question(name: name, type: type, wantsUnicast: wantsUnicast)], answers: known)
}

let hostID = GroupID(rawValue: 1)
let serviceID = GroupID(rawValue: 2)
let type: Name = "_x._tcp.local"
let instance: Name = "A._x._tcp.local"
let host: Name = "h.local"

func srv(_ port: UInt16 = 80, ttl: UInt32 = 120) -> Record {
    Record(
        name: instance, isCacheFlush: true, timeToLive: ttl,
        data: .srv(priority: 0, weight: 0, port: port, target: host))
}
func txt(_ text: String = "a=b", ttl: UInt32 = 4500) -> Record {
    Record(
        name: instance, isCacheFlush: true, timeToLive: ttl, data: .txt([UInt8(text.utf8.count)] + Array(text.utf8)))
}
func pointer(ttl: UInt32 = 4500) -> Record { Record(name: type, timeToLive: ttl, data: .ptr(instance)) }
func address(_ last: UInt8 = 1, ttl: UInt32 = 120) -> Record {
    Record(name: host, isCacheFlush: true, timeToLive: ttl, data: .a(IPv4Address(10, 0, 0, last)))
}
let hostNSEC = Record(name: host, isCacheFlush: true, timeToLive: 120, data: .nsec(next: host, types: [.a]))
let serviceNSEC = Record(
    name: instance, isCacheFlush: true, timeToLive: 120, data: .nsec(next: instance, types: [.txt, .srv]))

let hostGroup = RecordGroup(name: host, publishesAddresses: true)
let serviceGroup = RecordGroup(name: instance, unique: [srv(), txt()], shared: [pointer()], requires: hostID)

extension Harness where M == Responder {
    /// Returns a responder with a host and a service that were just published on the given interfaces.
    static func responder(seed: UInt64 = 1, on networks: [NetworkInterface] = [ethernet]) -> Harness {
        var harness = Harness(Responder(random: SeededRandom(seed: seed)))
        for network in networks { harness.send(.interfaceChanged(network)) }
        harness.send(.publish(hostID, hostGroup))
        harness.send(.publish(serviceID, serviceGroup))
        return harness
    }

    /// Returns a responder one minute after the publication. The log is empty.
    static func announced(seed: UInt64 = 1, on networks: [NetworkInterface] = [ethernet]) -> Harness {
        var harness = responder(seed: seed, on: networks)
        harness.run(for: .seconds(60))
        harness.clear()
        return harness
    }

    var sent: [(time: Instant, message: Message, datagram: OutboundDatagram)] {
        log.compactMap { entry in
            guard case .send(let datagram) = entry.action, let message = try? Message(decoding: datagram.bytes) else {
                return nil
            }
            return (entry.time, message, datagram)
        }
    }

    var conflicts: [(time: Instant, group: GroupID)] {
        log.compactMap { entry in
            guard case .conflicted(let group, _) = entry.action else { return nil }
            return (entry.time, group)
        }
    }
}

extension Harness where M == Querier {
    static func querier(seed: UInt64 = 1, keepsAllRecords: Bool = true) -> Harness {
        var harness = Harness(Querier(random: SeededRandom(seed: seed), keepsAllRecords: keepsAllRecords))
        harness.send(.interfaceChanged(ethernet))
        return harness
    }

    var sent: [(time: Instant, message: Message)] {
        log.compactMap { entry in
            guard case .send(let datagram) = entry.action, let message = try? Message(decoding: datagram.bytes) else {
                return nil
            }
            return (entry.time, message)
        }
    }

    var changes: [(time: Instant, change: CacheChange)] {
        log.flatMap { entry -> [(time: Instant, change: CacheChange)] in
            guard case .changed(_, let changes) = entry.action else { return [] }
            return changes.map { (entry.time, $0) }
        }
    }
}
