import ProtocolCore
import SimulatedLAN
import TestSupport

@testable import PlugProtocol
import PlugModel

/// A host that connects to a plug, with or without permission.
final class Caller {
    enum Manner: CaseIterable {
        /// Knows the code on the label. It pairs first, and afterwards sends Hello.
        case owner
        /// Guesses codes.
        case guesser
        /// Sends messages that only paired controllers may send.
        case stranger
        /// Replays the messages of an owner.
        case replayer
    }

    private enum Link {
        case none
        case connecting(StreamID, until: Instant)
        case pairing(Introduction)
        case following(StreamID, ControllerSession)
        case shouting(StreamID)
    }

    let name: String
    let manner: Manner
    /// The endpoint at which the caller expects the plug.
    let place: LANEndpoint
    private let wiretap: Wiretap
    /// The key that the host at an address proves to own.
    private let shown: (LANAddress) -> PublicKey?
    private(set) var key: PublicKey?
    /// The number of proofs that the caller sent as an owner. Callers of other manners do not count.
    private(set) var proofs = 0
    private(set) var pinned: PublicKey?
    /// The received messages, except those of sessions after pairing.
    private(set) var told: [WirePlugMessage.OneOf_Kind] = []
    private(set) var results: [Result<PairedPlug, PairingError>] = []
    private(set) var welcomes = 0
    /// The reasons that ended its sessions after pairing.
    private(set) var refusals: [EndReason] = []
    private var address: LANAddress?
    private var link = Link.none
    private var decoder = FrameDecoder()
    private var streams: UInt32 = 0
    private var random = SeededRandom(seed: 0)

    init(
        name: String, _ manner: Manner, at place: LANEndpoint, wiretap: Wiretap,
        shown: @escaping (LANAddress) -> PublicKey?
    ) {
        self.name = name
        self.manner = manner
        self.place = place
        self.wiretap = wiretap
        self.shown = shown
    }

    var isFollowing: Bool { if case .following = link { true } else { false } }

    var nextDeadline: Instant? {
        switch link {
        case .none, .shouting: nil
        case .connecting(_, let until): until
        case .pairing(let introduction): introduction.nextDeadline
        case .following(_, let session): session.nextDeadline
        }
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            random = SeededRandom(seed: start.seed)
            link = .none
            return []
        case .interfaceUp(_, let addresses):
            address = addresses[0]
            key = PublicKey(of: addresses[0])
            return []
        case .stimulus(.call): return hangUp() + call(now)
        case .stimulus(.reset): return follow(.request(.factoryReset), now)
        case .stimulus(.remove(let key)): return follow(.request(.removeController(fingerprint: key.fingerprint)), now)
        case .connected(let stream): return connected(stream, now)
        case .received(let stream, let bytes): return received(bytes, on: stream, now)
        case .closed(let stream, _): return closed(stream, now)
        case .deadlineReached: return deadlineReached(now)
        case .accepted, .interfaceDown, .datagram, .writable, .wallClockStepped, .stimulus: return []
        }
    }

    private var stream: StreamID? {
        switch link {
        case .none: nil
        case .connecting(let stream, _), .following(let stream, _), .shouting(let stream): stream
        case .pairing(let introduction): introduction.stream
        }
    }

    private func hangUp() -> [HostAction] {
        defer { link = .none }
        return stream.map { [.close($0)] } ?? []
    }

    private func call(_ now: Instant) -> [HostAction] {
        streams += 1
        decoder = FrameDecoder()
        link = .connecting(StreamID(streams), until: now + .seconds(10))
        return [.connect(StreamID(streams), to: place)]
    }

    private func connected(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard case .connecting(stream, _) = link else { return [] }
        guard let plug = shown(place.address) else { return hangUp() }
        switch manner {
        case .owner where pinned == plug:
            link = .following(stream, ControllerSession(name: name))
            return follow(.connected, now)
        case .owner: return introduce(on: stream, plug, code: .label, now)
        case .guesser: return introduce(on: stream, plug, code: SetupCode(drawnFrom: &random), now)
        case .stranger:
            link = .shouting(stream)
            return (0..<Int.random(in: 1...3, using: &random)).map { _ in .write(stream, claim()) }
        case .replayer:
            link = .shouting(stream)
            return wiretap.heard.map { .write(stream, $0) }
        }
    }

    private func closed(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard stream == self.stream else { return [] }
        switch link {
        case .pairing: return pair(.closed, now)
        case .following: return follow(.closed, now)
        case .connecting, .shouting, .none:
            link = .none
            return []
        }
    }

    private func deadlineReached(_ now: Instant) -> [HostAction] {
        switch link {
        case .none, .shouting: return []
        case .connecting(_, let until): return until <= now ? hangUp() : []
        case .pairing: return pair(.deadlineReached, now)
        case .following: return follow(.deadlineReached, now)
        }
    }

    private func received(_ bytes: [UInt8], on stream: StreamID, _ now: Instant) -> [HostAction] {
        guard stream == self.stream else { return [] }
        if case .following = link { return follow(.received(bytes), now) }
        decoder.append(bytes)
        while let message = try? decoder.next(WirePlugMessage.self) { told.append(message.kind!) }
        if case .pairing = link { return pair(.received(bytes), now) }
        return []
    }

    // MARK: Pairing

    private func introduce(
        on stream: StreamID, _ plug: PublicKey, code: SetupCode, _ now: Instant
    ) -> [HostAction] {
        guard let address else { return [] }
        var introduction = Introduction(on: stream, name: name, code: code)
        let actions = introduction.begin(plug: plug, own: address, random: &random, now: now)
        link = .pairing(introduction)
        if manner == .owner { wiretap.begin(actions) }
        return actions
    }

    private func pair(_ event: PairingSession.Event, _ now: Instant) -> [HostAction] {
        guard case .pairing(var introduction) = link else { return [] }
        let (actions, result) = introduction.handle(event, now: now)
        link = .pairing(introduction)
        if manner == .owner, actions.contains(where: { $0.written != nil }) {
            proofs += 1
            wiretap.goOn(actions)
        }
        guard let result else { return actions }
        link = .none
        results.append(result)
        if case .success(let plug) = result { pinned = plug.key }
        return actions
    }

    // MARK: Paired

    private func follow(_ event: ControllerSession.Event, _ now: Instant) -> [HostAction] {
        guard case .following(let stream, var session) = link else { return [] }
        let actions = session.handle(event, now: now)
        link = .following(stream, session)
        return actions.flatMap { action -> [HostAction] in
            switch action {
            case .send(let bytes): return [.write(stream, bytes)]
            case .close: return hangUp()
            case .deliver(.welcomed):
                welcomes += 1
                // Subscribes only after Welcome. If a plug refuses Hello and closes with unread data, its kernel resets
                // the connection and the Goodbye is lost.
                return follow(.subscribe(SubscriptionOptions(events: .after(0))), now)
            case .deliver(.ended(let reason)):
                refusals.append(reason)
                if case .endedByPeer(let goodbye) = reason, [.notPaired, .factoryReset].contains(goodbye.reason) {
                    pinned = nil
                }
                return hangUp()
            case .deliver: return []
            }
        }
    }

    // MARK: Not paired

    private func claim() -> [UInt8] {
        var message = WireControllerMessage()
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            message.hello.version = 1
            message.hello.controller = "Desk"
        case 2: message.subscribe.after = 0
        case 3:
            message.command.requestID = .init((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
            message.command.setRelay.on = true
        case 4: message.listControllers = WireListControllers()
        case 5: message.fetchSamples.to = 1 << 40
        case 6: message.factoryReset = WireFactoryReset()
        case 7: message.fetchAudit.limit = 9
        default: message.pairingProof.proof = .init(repeating: 0, count: 32)
        }
        return FrameEncoder.frame(message)
    }
}

/// The messages of the last attempt of an owner to pair: its request and its proof.
final class Wiretap {
    private(set) var heard: [[UInt8]] = []

    func begin(_ actions: [HostAction]) { heard = actions.compactMap(\.written) }
    func goOn(_ actions: [HostAction]) { heard += actions.compactMap(\.written) }
}

extension HostAction {
    fileprivate var written: [UInt8]? { if case .write(_, let bytes) = self { bytes } else { nil } }
}
