import Appliance
import Metering
import PlugProtocol
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// A whole plug on the simulated LAN: ``PlugMachine`` and ``DiscoveryNode``, as the firmware brings them together.
struct HousePlug {
    /// Survives a loss of power.
    struct Flash {
        /// Numbers below it may have been used.
        var boundary: SequenceNumber = 1
        var state: StoredState?
        var boot: UInt64?
    }

    static let serviceType: ServiceType = "_smartplug._tcp"
    private static let reserved: SequenceNumber = 16
    private static let registration = RegistrationID(rawValue: 1)
    /// How long a finger stays on the button, and until the press is certainly recorded.
    private static let hold = Duration.milliseconds(100)
    private static let recorded = Duration.milliseconds(500)

    let name: String
    let number: UInt8
    private(set) var flash = Flash()
    private(set) var machine: PlugMachine?
    private(set) var boot: BootID?
    private(set) var relayOn = false
    /// What the meter said in the present boot, and when.
    private(set) var measured: [Instant: Int32] = [:]
    private(set) var pressesBegun = 0
    /// Those after which the plug lived long enough to record them.
    private(set) var pressesCertain = 0
    /// Active power of what is plugged in, tenths of a watt.
    private var load: Int32 = 0
    private var port: UInt16 = 7000
    private var discovery: DiscoveryShell?
    private var streams: [ConnectionID: StreamID] = [:]
    private var release: Instant?
    private var certain: Instant?

    init(name: String, number: UInt8, relayOn: Bool) {
        self.name = name
        self.number = number
        flash.state = StoredState(relayOn: relayOn)
    }

    var nextDeadline: Instant? {
        [machine?.nextDeadline, discovery?.nextDeadline, release, certain].reduce(nil, sooner)
    }

    mutating func handle(_ event: HostEvent<HouseholdStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start): return begin(start, now: now)
        case .interfaceUp(let interface, let addresses): return discover { $0.up(interface, addresses, now: now) }
        case .interfaceDown: return discover { $0.down(now: now) }
        case .datagram(let datagram, _): return discover { $0.received(datagram, now: now) }
        case .accepted(let stream, _, let peer):
            streams[id(stream)] = stream
            return perform(.opened(id(stream), peer: "\(peer)"), now: now)
        case .received(let stream, let bytes): return perform(.received(id(stream), bytes), now: now)
        case .writable(let stream, let writable): return perform(.writable(id(stream), writable), now: now)
        case .closed(let stream, _): return perform(.closed(id(stream)), now: now)
        case .deadlineReached:
            return finishPress(now: now) + perform(.deadlineReached, now: now)
                + discover { $0.handle(.deadlineReached, now: now) }
        case .stimulus(.press):
            guard release == nil, certain == nil else { return [] }
            pressesBegun += 1
            release = now + Self.hold
            return perform(.buttonEdge(down: true), now: now)
        case .stimulus(.load(let deciwatts)):
            load = deciwatts
            return []
        case .connected, .wallClockStepped: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private mutating func begin(_ start: Start, now: Instant) -> [HostAction] {
        let boot = BootID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: start.boot >> ($0 % 8 * 8)) })!
        let identity = PlugServer.Identity(
            id: PlugID(rawValue: "0123456789a\(number)")!, name: name, capabilities: [.relay, .meter, .button],
            firmware: "1.0", boot: boot)
        self.boot = boot
        streams = [:]
        (release, certain) = (nil, nil)
        port += 1
        let powerLost = flash.boot != start.boot
        flash.boot = start.boot
        machine = PlugMachine(
            ApplianceConfiguration(), identity: identity,
            memory: PlugMemory(
                journal: EventJournal(nextSequence: flash.boundary),
                appliance: ApplianceMemory(flash.state, powerLost: powerLost)))
        if powerLost { measured = [:] }
        discovery = DiscoveryShell(seed: start.seed)
        var actions: [HostAction] = [.listen(port: port)]
        actions += perform(.started, now: now)
        let service = try? ServiceRegistration(
            name: name, type: Self.serviceType, hostName: "plug-\(number)", port: port)
        return actions + discover { $0.handle(.register(Self.registration, service!), now: now) }
    }

    private mutating func finishPress(now: Instant) -> [HostAction] {
        if let time = certain, time <= now {
            certain = nil
            pressesCertain += 1
        }
        guard let time = release, time <= now else { return [] }
        release = nil
        certain = now + Self.recorded
        return perform(.buttonEdge(down: false), now: now)
    }

    private mutating func discover(_ step: (inout DiscoveryShell) -> DiscoveryShell.Outcome) -> [HostAction] {
        guard var shell = discovery else { return [] }
        defer { discovery = shell }
        // Names are unique in this house, so there is no news to take.
        return step(&shell).datagrams
    }

    private mutating func perform(_ event: PlugMachine.Event, now: Instant) -> [HostAction] {
        guard let actions = machine?.handle(event, now: now) else { return [] }
        var out: [HostAction] = []
        for action in actions {
            switch action {
            case .setRelay(let on): relayOn = on
            case .readMeter:
                let deciwatts = relayOn ? load : 0
                measured[now] = deciwatts
                out += perform(.measured(Measurement(deciwatts: deciwatts)), now: now)
            case .persist(let state): flash.state = state
            case .send(let connection, let bytes): out.append(.write(streams[connection]!, bytes))
            case .close(let connection, _): out.append(.close(streams[connection]!))
            case .setDimmer, .setLight, .mirror: break
            case .reserve(let boundary): out += perform(.reserved(boundary), now: now)
            }
        }
        // The boundary moves in flash before a number beyond it leaves the plug.
        if let next = machine?.nextSequence, next >= flash.boundary { flash.boundary = next + Self.reserved }
        return out
    }
}

enum HouseholdStimulus: Sendable {
    case press
    /// Tenths of a watt.
    case load(Int32)
}
