import Automation
import PlugModel
import PlugProtocol
import ProtocolCore
import RuleModel
import SimulatedLAN
import TestSupport

/// A controller that the owner removes. It receives the same messages as every controller. It knows the owner's rules
/// and can therefore compute the ids of their future commands. With these ids it sends commands in advance, which
/// change nothing. After its removal it still tries to connect.
final class FormerController {
    private enum Link {
        case none
        case connecting(StreamID)
        case pairing(Introduction)
        case open(StreamID, ControllerSession)
    }

    /// The number of future switch events for which the controller computes the ids of the commands.
    private static let foresight: UInt64 = 40
    private static let patience = Duration.seconds(3600)

    private let rules: [Rule]
    /// The current endpoint of each plug.
    private let places: [String: () -> LANEndpoint]
    private let shown: (LANAddress) -> PublicKey?
    private var links: [String: Link] = [:]
    private var pinned: Set<String> = []
    private var descriptions: [String: PlugDescription] = [:]
    private var states: [String: PlugState] = [:]
    private var lastEvents: [String: SequenceNumber] = [:]
    private var address: LANAddress?
    private var random = SeededRandom(seed: 0)
    private var lastStream: UInt32 = 0
    /// The request ids that the controller sent in advance.
    private(set) var asked: Set<RequestID> = []
    /// The plugs that refused the controller because it is not paired.
    private(set) var refusedBy: Set<String> = []

    init(
        rules: [Rule], places: [String: () -> LANEndpoint], shown: @escaping (LANAddress) -> PublicKey?
    ) {
        self.rules = rules
        self.places = places
        self.shown = shown
    }

    var isPairedWithAll: Bool { pinned.count == places.count }

    var nextDeadline: Instant? {
        links.values.reduce(nil) { deadline, link in
            switch link {
            case .none, .connecting: deadline
            case .pairing(let introduction): sooner(deadline, introduction.nextDeadline)
            case .open(_, let session): sooner(deadline, session.nextDeadline)
            }
        }
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            random = SeededRandom(seed: start.seed)
            links = [:]
            return []
        case .interfaceUp(_, let addresses):
            address = addresses[0]
            return []
        case .stimulus(.call): return places.keys.sorted().flatMap(call)
        case .stimulus(.command): return askAhead(now)
        case .connected(let stream): return name(of: stream).map { connected($0, stream, now) } ?? []
        case .received(let stream, let bytes):
            guard let name = name(of: stream) else { return [] }
            if case .pairing = links[name] { return pair(name, .received(bytes), now) }
            return step(name, .received(bytes), now)
        case .closed(let stream, _):
            guard let name = name(of: stream) else { return [] }
            if case .pairing = links[name] { return pair(name, .closed, now) }
            links[name] = Link.none
            return []
        case .deadlineReached:
            return links.keys.sorted().flatMap { name -> [HostAction] in
                if case .pairing = links[name] { return pair(name, .deadlineReached, now) }
                return step(name, .deadlineReached, now)
            }
        case .accepted, .interfaceDown, .datagram, .writable, .wallClockStepped, .stimulus: return []
        }
    }

    private func name(of stream: StreamID) -> String? {
        links.first { _, link in
            switch link {
            case .none: false
            case .connecting(let own), .open(let own, _): own == stream
            case .pairing(let introduction): introduction.stream == stream
            }
        }?.key
    }

    private func call(_ name: String) -> [HostAction] {
        switch links[name] {
        case .connecting, .pairing, .open: return []
        case .some(.none), nil: break
        }
        guard let place = places[name]?() else { return [] }
        lastStream += 1
        links[name] = .connecting(StreamID(lastStream))
        return [.connect(StreamID(lastStream), to: place)]
    }

    private func connected(_ name: String, _ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard let address, let place = places[name]?(), let key = shown(place.address) else { return [.close(stream)] }
        guard pinned.contains(name) else {
            var introduction = Introduction(on: stream, name: "former")
            let actions = introduction.begin(plug: key, own: address, random: &random, now: now)
            links[name] = .pairing(introduction)
            return actions
        }
        links[name] = .open(stream, ControllerSession(name: "former"))
        return step(name, .connected, now)
    }

    private func pair(_ name: String, _ event: PairingSession.Event, _ now: Instant) -> [HostAction] {
        guard case .pairing(var introduction) = links[name] else { return [] }
        let (actions, result) = introduction.handle(event, now: now)
        links[name] = .pairing(introduction)
        guard let result else { return actions }
        links[name] = Link.none
        if case .success = result { pinned.insert(name) }
        return actions + [.close(introduction.stream)]
    }

    private func step(_ name: String, _ event: ControllerSession.Event, _ now: Instant) -> [HostAction] {
        guard case .open(let stream, var session) = links[name] else { return [] }
        let actions = session.handle(event, now: now)
        links[name] = .open(stream, session)
        return actions.flatMap { action -> [HostAction] in
            switch action {
            case .send(let bytes): return [.write(stream, bytes)]
            case .close:
                links[name] = Link.none
                return [.close(stream)]
            case .deliver(let update): return take(update, name, now)
            }
        }
    }

    private func take(_ update: SessionUpdate, _ name: String, _ now: Instant) -> [HostAction] {
        switch update {
        case .welcomed(let description):
            descriptions[name] = description
            return step(name, .subscribe(SubscriptionOptions(events: .after(0))), now)
        case .snapshot(let state): states[name] = state
        case .state(let state): states[name] = state
        case .event(let event, _): lastEvents[name] = event.sequence
        case .ended(.endedByPeer(let goodbye)) where goodbye.reason == .notPaired: refusedBy.insert(name)
        default: break
        }
        return []
    }

    // MARK: Requests in advance

    /// Sends commands that change nothing, with the ids of the commands that the next presses of the switch will cause.
    private func askAhead(_ now: Instant) -> [HostAction] {
        guard let door = descriptions["Switch"], let last = lastEvents["Switch"] else { return [] }
        var engine = RuleEngine(rules: rules)
        for name in places.keys.sorted() {
            guard let description = descriptions[name] else { continue }
            let state = states[name] ?? PlugState(relayOn: false)
            _ = engine.handle(
                .plugAppeared(plug: name, state: state, boot: description.boot, id: description.id), now: now)
        }
        var actions: [HostAction] = []
        for sequence in (last + 1)...(last + Self.foresight) {
            var copy = engine
            let press = PlugEvent(sequence: sequence, boot: door.boot, time: now, kind: .buttonPressed(.single))
            for action in copy.handle(.happened(plug: "Switch", press, age: .zero), now: now) {
                guard case .send(let request, _) = action, let state = states[request.plug] else { continue }
                asked.insert(request.id)
                let command = PlugCommand.setRelay(on: state.relayOn, autoOff: nil)
                actions += step(request.plug, .command(request.id, command, deadline: now + Self.patience), now)
            }
        }
        return actions
    }
}
