import ProtocolCore
import SimulatedLAN

import PlugModel

@testable import PlugProtocol

/// A man in the middle. It accepts connections that were meant for the plug, opens others to the plug, and forwards all
/// data. Each side receives the intermediary's key instead of the other side's.
final class Intermediary {
    let port: UInt16
    private let plug: LANEndpoint
    /// The messages that the intermediary received from the plug.
    private(set) var told: [WirePlugMessage.OneOf_Kind] = []
    private var partners: [StreamID: StreamID] = [:]
    private var decoders: [StreamID: FrameDecoder] = [:]
    private var streams: UInt32 = 0

    init(port: UInt16, before plug: LANEndpoint) {
        self.port = port
        self.plug = plug
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started:
            partners = [:]
            return [.listen(port: port)]
        case .accepted(let stream, _, _):
            streams += 1
            let other = StreamID(streams)
            (partners[stream], partners[other], decoders[other]) = (other, stream, FrameDecoder())
            return [.connect(other, to: plug)]
        case .received(let stream, let bytes):
            decoders[stream]?.append(bytes)
            while let message = try? decoders[stream]?.next(WirePlugMessage.self) { told.append(message.kind!) }
            return partners[stream].map { [.write($0, bytes)] } ?? []
        case .closed(let stream, _):
            guard let other = partners.removeValue(forKey: stream) else { return [] }
            partners[other] = nil
            return [.close(other)]
        case .connected, .interfaceUp, .interfaceDown, .datagram, .writable, .wallClockStepped, .stimulus,
            .deadlineReached:
            return []
        }
    }
}
