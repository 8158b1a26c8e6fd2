import Automation
import PlugClient
import PlugModel
import PlugProtocol
import ProtocolCore
import RuleModel
import ServiceDiscovery
import SimulatedLAN

/// A controller on the simulated LAN that finds the plugs, follows them and runs rules, as `plugctl daemon` does.
final class RulingController {
    struct SentCommand {
        let request: CommandRequest
        let firing: Firing
        var outcome: CommandOutcome?
    }

    private static let browse = BrowseID(rawValue: 1)
    private static let patience = Duration.seconds(5)

    let rules: [Rule]
    private(set) var records: [String: Database] = [:]
    private(set) var firings: [Firing] = []
    private(set) var commands: [SentCommand] = []
    /// The last violated invariant, or nil.
    private(set) var violation: String?
    /// The firings of the last step and its time, which the test compares with the plugs.
    private(set) var fresh: (firings: [Firing], at: Instant) = ([], .zero)
    private(set) var plugs: [String: FollowedHousePlug] = [:]
    /// The names of the followed plugs, sorted.
    private var names: [String] = []
    /// The time of the first reading in a snapshot, by boot, for all processes of the controller. Earlier changes
    /// cannot fire a rule.
    private(set) var firstReadings: [BootID: Instant] = [:]
    private var engine: RuleEngine
    private var address: LANAddress?
    private var directory = PlugDirectory()
    private var discovery: DiscoveryShell?
    private var random = SeededRandom(seed: 0)
    private var lastStream: UInt32 = 0
    private var lastResolve: UInt64 = 0
    /// The number of updates that are stored before the process is killed; nil if no kill is scheduled.
    private var storesLeft: Int?
    private var isKilled = false

    init(rules: [Rule]) {
        self.rules = rules
        engine = RuleEngine(rules: rules)
    }

    var nextDeadline: Instant? {
        plugs.values.reduce(sooner(engine.nextDeadline, discovery?.nextDeadline)) { sooner($0, $1.nextDeadline) }
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        fresh = ([], now)
        switch event {
        case .started(let start):
            random = SeededRandom(seed: start.seed)
            // Dwells continue after a restart.
            engine = RuleEngine(rules: rules, memory: engine.memory)
            directory = PlugDirectory()
            (plugs, names) = ([:], [])
            (storesLeft, isKilled) = (nil, false)
            discovery = DiscoveryShell(seed: start.seed &+ 1)
            return discover(now) { $0.handle(.browse(Self.browse, SimulatedPlug.serviceType), now: now) }
        case .interfaceUp(let interface, let addresses):
            address = addresses[0]
            return discover(now) { $0.up(interface, addresses, now: now) }
        case .interfaceDown: return discover(now) { $0.down(now: now) }
        case .datagram(let datagram, _): return discover(now) { $0.received(datagram, now: now) }
        case .connected(let stream):
            return owner(of: stream).map { connected($0, stream, now) } ?? [.close(stream)]
        case .received(let stream, let bytes):
            guard let name = owner(of: stream) else { return [] }
            if case .pairing = plugs[name]?.link { return pair(name, .received(bytes), now) }
            return step(name, .received(bytes, on: id(stream)), now)
        case .closed(let stream, _): return closed(stream, now)
        case .deadlineReached: return deadlineReached(now)
        case .stimulus(.killBeforeStore(let count)):
            storesLeft = count
            return []
        case .accepted, .writable, .wallClockStepped, .stimulus: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private func owner(of stream: StreamID) -> String? {
        plugs.first {
            switch $0.value.link {
            case .connecting(stream, _), .open(stream): true
            case .pairing(let introduction): introduction.stream == stream
            case .none, .resolving, .connecting, .open: false
            }
        }?.key
    }

    // MARK: Discovery

    private func discover(
        _ now: Instant, _ step: (inout DiscoveryShell) -> DiscoveryShell.Outcome
    ) -> [HostAction] {
        guard var shell = discovery else { return [] }
        let outcome = step(&shell)
        discovery = shell
        return outcome.datagrams + outcome.news.flatMap { take($0, now) }
    }

    private func take(_ news: DiscoveryNode.Action, _ now: Instant) -> [HostAction] {
        switch news {
        case .browse(_, let change):
            return directory.handle(change, now: now).flatMap { follow($0, now) }
        case .resolved(let resolve, let service):
            let found = plugs.first { if case .resolving(resolve, _) = $0.value.link { true } else { false } }
            guard let name = found?.key, let address = LANAddress(bytes: service.addresses[0].address.bytes) else {
                return []
            }
            lastStream += 1
            plugs[name]?.address = address
            plugs[name]?.link = .connecting(StreamID(lastStream), until: now + Self.patience)
            return discover(now) { $0.handle(.cancelResolve(resolve), now: now) }
                + [.connect(StreamID(lastStream), to: LANEndpoint(address, service.port))]
        case .registered, .nameTaken, .types, .unresolved, .displaced, .send, .conflicted, .heard: return []
        }
    }

    private func follow(_ change: PlugDirectory.Change, _ now: Instant) -> [HostAction] {
        switch change {
        case .appeared(let name), .renewed(let name):
            if plugs[name] == nil {
                let record = records[name, default: Database()]
                let machine = PlugFollower(
                    controllerName: "house", cursor: record.start, known: record.cursors,
                    stateOptions: StateOptions(), seed: random.next())
                plugs[name] = FollowedHousePlug(machine: machine)
                names = plugs.keys.sorted()
            }
            return step(name, .located, now)
        case .disappeared: return []
        }
    }

    private func failed(_ name: String, _ now: Instant) -> [HostAction] {
        plugs[name]?.link = .none
        let identity = ServiceIdentity(name: name, type: SimulatedPlug.serviceType)
        return discover(now) { $0.handle(.reconfirm(identity), now: now) }
            + step(name, .failed(.away("no answer")), now)
    }

    /// Follows a plug whose key is pinned, and pairs with any other plug first.
    private func connected(_ name: String, _ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard let address, let plug = plugs[name]?.address else { return [.close(stream)] }
        guard records[name]?.pinned.contains(PublicKey(of: plug)) != true else {
            plugs[name]?.link = .open(stream)
            return step(name, .opened(id(stream)), now)
        }
        var introduction = Introduction(on: stream, name: "house")
        let actions = introduction.begin(plug: PublicKey(of: plug), own: address, random: &random, now: now)
        plugs[name]?.link = .pairing(introduction)
        return actions
    }

    private func pair(_ name: String, _ event: PairingSession.Event, _ now: Instant) -> [HostAction] {
        guard case .pairing(var introduction) = plugs[name]?.link else { return [] }
        let (actions, result) = introduction.handle(event, now: now)
        plugs[name]?.link = .pairing(introduction)
        guard let result else { return actions }
        plugs[name]?.link = .none
        if case .success(let paired) = result { records[name, default: Database()].pinned.insert(paired.key) }
        return actions + step(name, .failed(.away("\(result)")), now)
    }

    private func closed(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard let name = owner(of: stream), let link = plugs[name]?.link else { return [] }
        if case .pairing = link { return pair(name, .closed, now) }
        guard case .open = link else { return failed(name, now) }
        plugs[name]?.link = .none
        return step(name, .closed(id(stream)), now)
    }

    private func deadlineReached(_ now: Instant) -> [HostAction] {
        var actions = discover(now) { $0.handle(.deadlineReached, now: now) }
        for name in names {
            switch plugs[name]?.link {
            case .resolving(let resolve, let until) where until <= now:
                actions += discover(now) { $0.handle(.cancelResolve(resolve), now: now) } + failed(name, now)
            case .connecting(let stream, let until) where until <= now:
                actions += [.close(stream)] + failed(name, now)
            case .pairing: actions += pair(name, .deadlineReached, now)
            case .resolving, .connecting, .open, .some(.none), nil: break
            }
            actions += step(name, .deadlineReached, now)
        }
        return actions + run(.deadlineReached, now)
    }

    // MARK: Following

    private func step(_ name: String, _ event: PlugFollower.Event, _ now: Instant) -> [HostAction] {
        guard let actions = plugs[name]?.machine.handle(event, now: now) else { return [] }
        var out: [HostAction] = []
        for action in actions where !isKilled {
            switch action {
            case .connect:
                lastResolve += 1
                let resolve = ResolveID(rawValue: lastResolve)
                plugs[name]?.link = .resolving(resolve, until: now + Self.patience)
                let identity = ServiceIdentity(name: name, type: SimulatedPlug.serviceType)
                out += discover(now) { $0.handle(.resolve(resolve, identity), now: now) }
            case .send(let bytes, on: let connection):
                if let stream = stream(of: name, connection) { out.append(.write(stream, bytes)) }
            case .close(let connection):
                guard let stream = stream(of: name, connection) else { continue }
                plugs[name]?.link = .none
                out.append(.close(stream))
            case .deliver(let update): out += take(update, of: name, now)
            case .finished(let id, let outcome): out += finished(id, outcome, of: name, now)
            case .described: break
            case .samples, .fetchRefused, .answer, .nextKey:
                violation = "an unexpected answer arrived"
            }
        }
        return out
    }

    private func stream(of name: String, _ connection: ConnectionID) -> StreamID? {
        guard case .open(let stream) = plugs[name]?.link, id(stream) == connection else { return nil }
        return stream
    }

    private func take(_ update: PlugUpdate, of name: String, _ now: Instant) -> [HostAction] {
        switch update {
        case .connected(let description):
            plugs[name]?.description = description
            records[name, default: Database()].meet(description.id)
            return []
        case .snapshot(let state):
            plugs[name]?.snapshot = state.reading?.time
            let description = plugs[name]?.description
            if let boot = description?.boot, let time = state.reading?.time, firstReadings[boot] == nil {
                firstReadings[boot] = time
            }
            return run(
                .plugAppeared(plug: name, state: state, boot: description?.boot, id: description?.id), now)
        case .state(let state):
            let actions = run(.state(plug: name, on: state.relayOn, level: state.level), now)
            guard let reading = state.reading else { return actions }
            return actions
                + run(
                    .reading(plug: name, activePower: reading.activePower, time: reading.time, isSnapshot: false), now)
        case .event(let event, let age):
            return store(name) {
                $0.take(event)
            } then: {
                take(event, of: name, age: age, now) + step(name, .request(.acknowledge(event.sequence)), now)
            }
        case .gap(let gap):
            let boot = plugs[name]?.description?.boot
            return store(name) {
                $0.take(gap, boot: boot)
            } then: {
                run(.gap(plug: name, to: gap.to), now)
            }
        case .disconnected: return run(.plugLost(plug: name), now)
        case .log: return []
        case .following(let sequence):
            return store(name) {
                $0.begin(after: sequence)
            } then: {
                []
            }
        }
    }

    private func finished(
        _ id: RequestID, _ outcome: CommandOutcome, of name: String, _ now: Instant
    ) -> [HostAction] {
        guard let index = commands.lastIndex(where: { $0.request.id == id }), commands[index].outcome == nil else {
            violation = "\(name): a command was answered twice"
            return []
        }
        commands[index].outcome = outcome
        return run(.commandFinished(plug: name, id: id, outcome: outcome), now)
    }

    /// Stores the cursor, and then runs `then`, so that no event has an effect before it is stored. If no stores are
    /// left, kills the process instead.
    private func store(
        _ name: String, _ change: (inout Database) -> String?, then: () -> [HostAction]
    ) -> [HostAction] {
        if storesLeft == 0 {
            isKilled = true
            return [.breakDown(.kill)]
        }
        storesLeft = storesLeft.map { $0 - 1 }
        let broken = change(&records[name, default: Database()])
        // The hostile plug may damage its own record, so only violations in other records count.
        if let broken, name != HostilePlug.name { violation = "\(name): \(broken)" }
        return then()
    }

    private func take(_ event: PlugEvent, of name: String, age: Duration?, _ now: Instant) -> [HostAction] {
        run(.happened(plug: name, event, age: age), now)
    }

    // MARK: Rules

    private func run(_ event: RuleEngineEvent, _ now: Instant) -> [HostAction] {
        var out: [HostAction] = []
        let actions = engine.handle(event, now: now)
        for action in actions {
            switch action {
            case .fired(let firing):
                if firings.contains(where: { $0.id == firing.id }) {
                    violation = "\(firing.rule) fired twice for one cause"
                }
                firings.append(firing)
                fresh.firings.append(firing)
            case .heldBack, .nearMiss, .notSent, .step: break
            case .remember, .effect, .call: violation = "an unexpected action"
            case .send(let request, let firing):
                if commands.contains(where: { $0.request.id == request.id }) { violation = "repeated request id" }
                commands.append(SentCommand(request: request, firing: firing))
                out += step(request.plug, .command(request.id, request.command), now)
            }
        }
        return out
    }
}
