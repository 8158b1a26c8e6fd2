import DNSWire
import PlugModel
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

@testable import PlugProtocol

/// An unpaired host in the network. It announces plugs that do not exist, some with the ids of the owner's plugs, and
/// sends messages to the real plugs that only paired controllers may send.
final class Stranger {
    private let places: [String: () -> LANEndpoint]
    private let ids: () -> [PlugID]
    private var random = SeededRandom(seed: 0)
    private var address: LANAddress?
    private var interface: LANInterface?
    private var streams: Set<StreamID> = []
    private var lastStream: UInt32 = 0
    private var decoder = FrameDecoder()
    /// The number of answers other than Goodbyes and pairing challenges.
    private(set) var answers = 0

    init(places: [String: () -> LANEndpoint], ids: @escaping () -> [PlugID]) {
        self.places = places
        self.ids = ids
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            random = SeededRandom(seed: start.seed)
            return []
        case .interfaceUp(let interface, let addresses):
            (self.interface, address) = (interface, addresses[0])
            return []
        case .stimulus(.call): return announce() + shout()
        case .connected(let stream): return (0..<3).map { _ in .write(stream, claim()) }
        case .received(_, let bytes):
            decoder.append(bytes)
            while let message = try? decoder.next(WirePlugMessage.self) {
                switch message.kind {
                case .goodbye, .pairingChallenge: break
                default: answers += 1
                }
            }
            return []
        case .closed(let stream, _):
            streams.remove(stream)
            decoder = FrameDecoder()
            return []
        case .accepted, .interfaceDown, .datagram, .writable, .wallClockStepped, .stimulus, .deadlineReached: return []
        }
    }

    private func shout() -> [HostAction] {
        guard streams.count < 4, let place = places.keys.sorted().randomElement(using: &random) else { return [] }
        lastStream += 1
        streams.insert(StreamID(lastStream))
        return [.connect(StreamID(lastStream), to: places[place]!())]
    }

    private func claim() -> [UInt8] {
        var message = WireControllerMessage()
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            message.hello.version = 1
            message.hello.controller = "house"
        case 1:
            message.command.requestID = .init((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
            message.command.setRelay.on = true
        case 2: message.announceKey.key = .init([1, 2, 3])
        case 3: message.pairingProof.proof = .init(repeating: 0, count: 32)
        case 4: message.newCode.code = .init(repeating: 0, count: 10)
        default: return (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        return FrameEncoder.frame(message)
    }

    private func announce() -> [HostAction] {
        guard let interface, let address else { return [] }
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let id = ids().randomElement(using: &random)?.rawValue ?? "ffffffffffff"
            let datagram = Datagram(
                from: LANEndpoint(address, 5353), to: LANEndpoint(LANAddress(224, 0, 0, 251), 5353),
                forged(as: random.chance(0.3) ? id : "ffffffffffff"))
            return .send(datagram, on: interface)
        }
    }

    private func forged(as id: String) -> [UInt8] {
        // There are only 16 names, because each stays in the caches of all hosts for up to 75 minutes, which is longer
        // than a run. FloodSimulationTests simulates floods.
        let number = Int.random(in: 0..<16, using: &random)
        do {
            let type: Name = "_smartplug._tcp.local"
            let instance = try type.prepending(label: Array("False \(number)".utf8))
            let host = try Name(presentation: "false-\(number).local")
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
                    Record(name: host, isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(192, 0, 2, 250))),
                ])
            return try message.encoded()
        } catch {
            preconditionFailure("the forged message is not valid: \(error)")
        }
    }
}
