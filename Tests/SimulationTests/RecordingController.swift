import Metering
import PlugClient
import PlugModel
import PlugProtocol
import PowerHistory
import ProtocolCore
import SimulatedLAN

@testable import Daemon

/// A controller on the simulated LAN that stores the samples of plugs at known addresses, as `plugctl daemon` does. Its
/// disk is slow and fails at times.
final class RecordingController {
    private static let patience = Duration.seconds(5)

    /// The stored history, which survives a kill.
    private(set) var history = RecordedTruth()
    /// The last violated invariant, or nil.
    private(set) var violation: String?
    private(set) var fetches = 0
    private(set) var failedWrites = 0
    private let places: [(name: String, address: LANEndpoint)]
    private var pinned: Set<PublicKey> = []
    private var plugs: [FollowedHousePlug] = []
    private var plan = BackfillPlan()
    private var queue = RecordQueue()
    private var writing: (batch: HistoryBatch, until: Instant)?
    private var underWay: [UInt32: (window: BackfillPlan.Window, plug: Int, chunks: [SampleChunk], asked: Int64)] = [:]
    private var lastFetch: UInt32 = 0
    private var lastStream: UInt32 = 0
    private var address: LANAddress?
    private var random = SeededRandom(seed: 0)

    init(plugs: [(name: String, address: LANEndpoint)]) { places = plugs }

    var isPaired: Bool { pinned.count == places.count }

    var nextDeadline: Instant? {
        let own = sooner(sooner(plan.nextDeadline, queue.nextDeadline), writing?.until)
        return plugs.reduce(own) { sooner($0, $1.nextDeadline) }
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        let actions = react(event, now)
        return actions + write(now)
    }

    private func react(_ event: HostEvent<HouseStimulus>, _ now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            begin(start)
            return []
        case .interfaceUp(_, let addresses):
            address = addresses[0]
            return plugs.indices.flatMap { step($0, .located, now) }
        case .connected(let stream): return owner(of: stream).map { connected($0, stream, now) } ?? [.close(stream)]
        case .received(let stream, let bytes):
            guard let plug = owner(of: stream) else { return [] }
            if case .pairing = plugs[plug].link { return pair(plug, .received(bytes), now) }
            return step(plug, .received(bytes, on: id(stream)), now)
        case .closed(let stream, _): return closed(stream, now)
        case .deadlineReached: return deadlineReached(now)
        case .stimulus, .interfaceDown, .datagram, .accepted, .writable, .wallClockStepped: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private func begin(_ start: Start) {
        random = SeededRandom(seed: start.seed)
        (plan, queue, writing, underWay) = (BackfillPlan(), RecordQueue(), nil, [:])
        plugs = places.map { _ in
            FollowedHousePlug(
                machine: PlugFollower(
                    controllerName: "house", cursor: nil, stateOptions: nil, seed: random.next()))
        }
    }

    // MARK: Connections

    private func owner(of stream: StreamID) -> Int? {
        plugs.firstIndex {
            switch $0.link {
            case .connecting(stream, _), .open(stream): true
            case .pairing(let introduction): introduction.stream == stream
            case .none, .resolving, .connecting, .open: false
            }
        }
    }

    private func connected(_ plug: Int, _ stream: StreamID, _ now: Instant) -> [HostAction] {
        let key = PublicKey(of: places[plug].address.address)
        guard let address, !pinned.contains(key) else {
            plugs[plug].link = .open(stream)
            return step(plug, .opened(id(stream)), now)
        }
        var introduction = Introduction(on: stream, name: "house")
        let actions = introduction.begin(plug: key, own: address, random: &random, now: now)
        plugs[plug].link = .pairing(introduction)
        return actions
    }

    private func pair(_ plug: Int, _ event: PairingSession.Event, _ now: Instant) -> [HostAction] {
        guard case .pairing(var introduction) = plugs[plug].link else { return [] }
        let (actions, result) = introduction.handle(event, now: now)
        plugs[plug].link = .pairing(introduction)
        guard let result else { return actions }
        plugs[plug].link = .none
        if case .success(let paired) = result { pinned.insert(paired.key) }
        return actions + step(plug, .failed(.away("\(result)")), now)
    }

    private func closed(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard let plug = owner(of: stream) else { return [] }
        switch plugs[plug].link {
        case .pairing: return pair(plug, .closed, now)
        case .open:
            plugs[plug].link = .none
            return step(plug, .closed(id(stream)), now)
        case .none, .resolving, .connecting:
            plugs[plug].link = .none
            return step(plug, .failed(.away("no answer")), now)
        }
    }

    private func deadlineReached(_ now: Instant) -> [HostAction] {
        var out: [HostAction] = []
        for plug in plugs.indices {
            switch plugs[plug].link {
            case .connecting(let stream, let until) where until <= now:
                plugs[plug].link = .none
                out += [.close(stream)] + step(plug, .failed(.away("no answer")), now)
            case .pairing: out += pair(plug, .deadlineReached, now)
            case .none, .resolving, .connecting, .open: break
            }
            out += step(plug, .deadlineReached, now)
        }
        return out + perform(.deadlineReached, now)
    }

    // MARK: Machines

    private func step(_ plug: Int, _ event: PlugFollower.Event, _ now: Instant) -> [HostAction] {
        var out: [HostAction] = []
        for action in plugs[plug].machine.handle(event, now: now) {
            switch action {
            case .connect:
                lastStream += 1
                plugs[plug].link = .connecting(StreamID(lastStream), until: now + Self.patience)
                out.append(.connect(StreamID(lastStream), to: places[plug].address))
            case .send(let bytes, on: let connection):
                if case .open(let stream) = plugs[plug].link, id(stream) == connection {
                    out.append(.write(stream, bytes))
                }
            case .close(let connection):
                guard case .open(let stream) = plugs[plug].link, id(stream) == connection else { continue }
                plugs[plug].link = .none
                out.append(.close(stream))
            case .deliver(.connected(let description)):
                plugs[plug].description = description
                out += perform(.connected(description.id, boot: description.boot), now)
            case .deliver(.disconnected):
                guard let gone = plugs[plug].description else { continue }
                plugs[plug].description = nil
                out += perform(.disconnected(gone.id), now)
            case .samples(let number, let chunk, let clock, let last):
                out += collect(number, chunk, clock, last: last, now)
            case .fetchRefused(let number, _):
                if let fetch = underWay.removeValue(forKey: number) { out += perform(.failed(fetch.window), now) }
            case .described: break
            case .deliver, .finished, .answer, .nextKey:
                violation = "unexpected \(action)"
            }
        }
        return out
    }

    private func perform(_ event: BackfillPlan.Event, _ now: Instant) -> [HostAction] {
        plan.handle(event, now: now).flatMap { action -> [HostAction] in
            switch action {
            case .look(let plug, let boot): look(plug, boot, now)
            case .fetch(let window): fetch(window, now)
            case .withdraw(let window):
                underWay.filter { $0.value.window == window }.flatMap { number, fetch in
                    underWay[number] = nil
                    return step(fetch.plug, .withdrawFetch(number), now)
                }
            }
        }
    }

    private func index(of plug: PlugID) -> Int? { plugs.firstIndex { $0.description?.id == plug } }

    private func look(_ plug: PlugID, _ boot: BootID, _ now: Instant) -> [HostAction] {
        guard let clock = index(of: plug).flatMap({ plugs[$0].machine.clock }), clock.boot == boot else {
            return perform(.lookFailed(plug, boot), now)
        }
        let plugTime = clock.plugTime(at: now).nanoseconds / 1_000_000
        return perform(.missing(plug, boot, history.missing(of: plug, boot, through: plugTime), now: plugTime), now)
    }

    private func fetch(_ window: BackfillPlan.Window, _ now: Instant) -> [HostAction] {
        guard let plug = index(of: window.plug), let clock = plugs[plug].machine.clock else {
            return perform(.failed(window), now)
        }
        lastFetch += 1
        fetches += 1
        if underWay.count >= BackfillPlan.atATime { violation = "\(underWay.count + 1) fetches at a time" }
        underWay[lastFetch] = (window, plug, [], clock.plugTime(at: now).nanoseconds / 1_000_000)
        return step(plug, .fetchBoot(lastFetch, window.boot, window.range), now)
    }

    private func collect(
        _ number: UInt32, _ bytes: [UInt8], _ clock: ClockMapping, last: Bool, _ now: Instant
    ) -> [HostAction] {
        guard var fetch = underWay[number] else { return [] }
        if let chunk = try? SampleChunk(bytes: bytes) { fetch.chunks.append(chunk) }
        underWay[number] = last ? nil : fetch
        guard last else { return [] }
        let answer = FetchedChunks(
            chunks: fetch.chunks, clock: clock, origin: .init(nanosecondsSince1970: 0), asked: fetch.asked)
        queue.add(BackfillResult(fetch.window, answer), now: now)
        return []
    }

    /// Ends the current write if it is due, and begins the next one. A write takes up to 50 ms, in which the process
    /// may be killed. One write in ten fails.
    private func write(_ now: Instant) -> [HostAction] {
        var out: [HostAction] = []
        if let (batch, until) = writing, until <= now {
            writing = nil
            let isStored = !random.chance(0.1)
            if isStored { history.record(batch) } else { failedWrites += 1 }
            for answer in queue.ended(stored: isStored, now: now) {
                out += perform(
                    isStored ? .stored(answer.window, covered: answer.covered) : .failed(answer.window), now)
            }
        }
        if let batch = queue.begin(now: now) {
            writing = (batch, now + random.duration(in: .zero...(.milliseconds(50))))
        }
        return out
    }
}
