import PlugModel
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import TestSupport

@testable import PlugProtocol

/// A paired plug that lies. Three of ten messages of its server are changed before they are sent: set to extreme
/// values or to the name of another plug, repeated, dropped, changed in one bit, or replaced by a Ping or by random
/// bytes.
final class HostilePlug {
    static let name = "Evil"
    private static let registration = RegistrationID(rawValue: 1)
    private static let port: UInt16 = 6666

    let address: LANAddress
    private var server: PlugServer?
    private var discovery: DiscoveryShell?
    private var random = SeededRandom(seed: 0)
    private var streams: [ConnectionID: StreamID] = [:]
    private var decoders: [ConnectionID: FrameDecoder] = [:]
    private var nextEvent: Instant?
    /// The number of changed messages.
    private(set) var lies = 0

    init(address: LANAddress) { self.address = address }

    var nextDeadline: Instant? { sooner(sooner(server?.nextDeadline, discovery?.nextDeadline), nextEvent) }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start): return begin(start, now)
        case .interfaceUp(let interface, let addresses): return discover { $0.up(interface, addresses, now: now) }
        case .interfaceDown: return discover { $0.down(now: now) }
        case .datagram(let datagram, _): return discover { $0.received(datagram, now: now) }
        case .accepted(let stream, _, let peer):
            streams[id(stream)] = stream
            return serve(
                .shell(.opened(PlugServer.Opening(id(stream), of: PublicKey(of: peer.address), peer: "\(peer)"))), now)
        case .received(let stream, let bytes): return serve(.shell(.received(id(stream), bytes)), now)
        case .closed(let stream, _):
            decoders[id(stream)] = nil
            return serve(.shell(.closed(id(stream))), now)
        case .deadlineReached:
            return serve(.deadlineReached, now) + discover { $0.handle(.deadlineReached, now: now) } + happen(now)
        case .connected, .writable, .wallClockStepped, .stimulus: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private func begin(_ start: Start, _ now: Instant) -> [HostAction] {
        random = SeededRandom(seed: start.seed)
        (streams, decoders) = ([:], [:])
        nextEvent = now + .seconds(20)
        let boot = BootID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: start.boot >> ($0 % 8 * 8)) })!
        let identity = PlugServer.Identity(
            id: PlugID(rawValue: "eeeeeeeeeeee")!, name: Self.name, capabilities: [.relay, .meter, .button],
            firmware: "6.66", boot: boot)
        let access = PlugServer.Access(key: PublicKey(of: address), code: .label, controllers: PairedControllers())
        server = PlugServer(
            identity: identity, access: access, journal: EventJournal(), state: PlugState(relayOn: false))
        discovery = DiscoveryShell(seed: start.seed &+ 1)
        let actions = serve(.record(.restarted(powerLost: false)), now)
        do {
            let service = try ServiceRegistration(
                name: Self.name, type: SimulatedPlug.serviceType, hostName: "plug-evil", port: Self.port,
                txt: TXTRecord(["txtvers": "1", "id": identity.id.rawValue]))
            return actions + [.listen(port: Self.port)]
                + discover { $0.handle(.register(Self.registration, service), now: now) }
        } catch {
            preconditionFailure("a name is not valid: \(error)")
        }
    }

    private func discover(_ step: (inout DiscoveryShell) -> DiscoveryShell.Outcome) -> [HostAction] {
        discovery == nil ? [] : step(&discovery!).datagrams
    }

    /// Reports a button press or a switch of the relay when it is due.
    private func happen(_ now: Instant) -> [HostAction] {
        guard let due = nextEvent, due <= now else { return [] }
        nextEvent = now + random.duration(in: .milliseconds(100)...(.seconds(4)))
        let isOn = random.chance(0.5)
        let state = PlugState(relayOn: isOn)
        return serve(
            .record(random.chance(0.5) ? .buttonPressed(.single) : .relayChanged(on: isOn, cause: .button)), now)
            + serve(.stateChanged(state), now)
    }

    private func serve(_ event: PlugServer.Event, _ now: Instant) -> [HostAction] {
        guard let actions = server?.handle(event, now: now) else { return [] }
        return actions.flatMap { action -> [HostAction] in
            switch action {
            case .shell(.send(let connection, let bytes)):
                return streams[connection].map { stream in said(bytes, on: connection).map { .write(stream, $0) } }
                    ?? []
            case .shell(.close(let connection, _)): return streams[connection].map { [.close($0)] } ?? []
            case .record(let kind): return serve(.record(kind), now)
            case .perform(let command, _, _, _):
                return serve(.commandOutcome(command, .done(PlugState(relayOn: true), event: nil)), now)
            case .fetch(let connection, let fetch, _, _):
                return serve(.samples(connection, fetch: fetch, chunk: [], next: nil), now)
            case .keepCode: return serve(.codeKept(nil), now)
            case .shell, .keep, .fetchAudit, .factoryReset: return []
            }
        }
    }

    // MARK: Lies

    /// Returns the frames that the plug sends instead of these bytes.
    private func said(_ bytes: [UInt8], on connection: ConnectionID) -> [[UInt8]] {
        decoders[connection, default: FrameDecoder()].append(bytes)
        var frames: [[UInt8]] = []
        while let message = try? decoders[connection]?.next(WirePlugMessage.self) { frames += told(message) }
        return frames
    }

    private func told(_ message: WirePlugMessage) -> [[UInt8]] {
        // Messages of pairing are not changed, because controllers follow only a paired plug.
        switch message.kind {
        case .pairingChallenge, .pairingProof: return [FrameEncoder.frame(message)]
        default: break
        }
        guard random.chance(0.3) else { return [FrameEncoder.frame(message)] }
        lies += 1
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return []
        case 1: return [FrameEncoder.frame(message), FrameEncoder.frame(message)]
        case 2:
            return [(0..<Int.random(in: 1...64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }]
        case 3:
            var frame = FrameEncoder.frame(message)
            frame[frame.indices.randomElement(using: &random)!] ^= 1 << UInt8.random(in: 0...7, using: &random)
            return [frame]
        default:
            var message = message
            distort(&message)
            return [FrameEncoder.frame(message)]
        }
    }

    private var extreme: UInt64 {
        [0, 1, 1 << 31, 1 << 62, 1 << 63 - 1, .max - 1, .max].randomElement(using: &random)!
    }

    private func distort(_ message: inout WirePlugMessage) {
        switch message.kind {
        case .welcome:
            message.welcome.name = "Light"
            message.welcome.givenName = "Light"
            message.welcome.plugTime = extreme
            if random.chance(0.3) { message.welcome.plugID = "000000000000" }
        case .subscribed: message.subscribed.nextSequence = extreme
        case .event:
            if random.chance(0.5) { message.event.sequence = extreme }
            if random.chance(0.5) { message.event.ageMs = extreme }
            if random.chance(0.5) { message.event.plugTime = extreme }
        case .state:
            message.state.state.reading.activeEnergyMwh = extreme
            message.state.state.reading.plugTime = extreme
            message.state.state.reading.activePowerDw = Int32(truncatingIfNeeded: extreme)
        case .snapshot:
            message.snapshot.state.reading.activeEnergyMwh = extreme
            message.snapshot.state.reading.plugTime = extreme
        case .descriptionChanged:
            message.descriptionChanged.name = "Light"
            message.descriptionChanged.givenName = "Light"
        default: message.ping = WirePing()
        }
    }
}
