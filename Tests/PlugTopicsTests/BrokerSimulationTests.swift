import Foundation
import PlugModel
import ProtocolCore
import Testing

@testable import PlugTopics

/// A house, its broker and a subscriber in virtual time. The broker drops connections, hangs, rejects messages and
/// loses its retained ones. The daemon is killed. Plugs connect, disconnect and are unpaired.
private struct BrokerWorld {
    private static let plugs = (1...5).map { PlugID(rawValue: String(repeating: "0", count: 11) + "\($0)")! }

    private var random: SeededRandom
    private var now = Instant.zero
    private var machine: BrokerMachine

    // The daemon's durable state.
    private var journal: [QueuedEvent] = []
    private var cursor: QueuedEvent.Position = 0
    private var remembered: Set<PlugID> = []

    private var paired = Set(plugs)
    private var present: Set<PlugID> = []
    private var sequences: [PlugID: SequenceNumber] = [:]
    private var states: [PlugID: String] = [:]

    // The broker.
    private var isReachable = true
    private var isHanging = false
    private var isRefusing = false
    private var isConnected = false
    private var isConnecting = false
    private(set) var retained: [String: String] = [:]
    private var unanswered: [(BrokerTicket, Publication)] = []
    /// The events that the subscriber received.
    private(set) var heard: [String: [SequenceNumber]] = [:]
    private var availableAt: [String: Instant] = [:]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        machine = Self.machine(seed: seed, known: [], after: 0, newest: 0)
        handle(.started)
        handle(.paired(paired))
    }

    private static func machine(
        seed: UInt64, known: Set<PlugID>, after: QueuedEvent.Position, newest: QueuedEvent.Position
    ) -> BrokerMachine {
        let configuration = BrokerMachine.Configuration(
            tree: Door.tree, discovery: try! HomeAssistantDiscovery(), servers: 2)
        return BrokerMachine(configuration, known: known, after: after, newest: newest, seed: seed)
    }

    private mutating func handle(_ event: BrokerMachine.Event) {
        var due = machine.handle(event, now: now)
        while !due.isEmpty {
            var more: [BrokerMachine.Action] = []
            for action in due { more += perform(action) }
            due = more
        }
    }

    private mutating func perform(_ action: BrokerMachine.Action) -> [BrokerMachine.Action] {
        switch action {
        case .connect: isConnecting = true
        case .disconnect: return drop("ended")
        case .subscribe, .tell, .command, .update, .replay: break
        case .publish(let ticket, let publication):
            #expect(isConnected, "a message was published without a connection")
            unanswered.append((ticket, publication))
            #expect(unanswered.count <= 128)
        case .fetch(let after, let limit):
            return machine.handle(.fetched(Array(journal.filter { $0.position > after }.prefix(limit))), now: now)
        case .keep(let position):
            #expect(position > cursor)
            cursor = position
        case .remember(let plug): remembered.insert(plug)
        case .forget(let plug): remembered.remove(plug)
        }
        return []
    }

    private mutating func drop(_ reason: String) -> [BrokerMachine.Action] {
        guard isConnected || isConnecting else { return [] }
        (isConnected, isConnecting) = (false, false)
        unanswered = []
        return machine.handle(.disconnected(reason: reason), now: now)
    }

    private mutating func broker() {
        if isConnecting {
            guard isReachable else { return perform(drop("refused")) }
            (isConnecting, isConnected) = (false, true)
            return handle(.connected)
        }
        guard !isHanging, !unanswered.isEmpty else { return }
        let (ticket, publication) = unanswered.removeFirst()
        guard !isRefusing else { return handle(.acknowledged(ticket, refusal: "Quota exceeded")) }
        take(publication)
        // The broker may have the message while its acknowledgement is lost.
        if random.chance(0.01) { return perform(drop("reset")) }
        handle(.acknowledged(ticket, refusal: nil))
    }

    private mutating func perform(_ actions: [BrokerMachine.Action]) {
        var due = actions
        while !due.isEmpty { due = due.flatMap { perform($0) } }
    }

    private mutating func take(_ publication: Publication) {
        guard publication.topic.hasSuffix("/event") else {
            #expect(publication.isRetained)
            if retained[publication.topic] != publication.payload, publication.payload == "online" {
                availableAt[publication.topic] = now
            }
            retained[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
            return
        }
        #expect(!publication.isRetained)
        let number = SequenceNumber(publication.payload.split(separator: ":")[1].dropLast())!
        heard[publication.topic, default: []].append(number)
        let availability = publication.topic.replacingOccurrences(of: "/event", with: "/availability")
        if let at = availableAt[availability], retained[availability] == "online" {
            #expect(now >= at + BrokerMachine.settling, "an event follows the availability too early")
        }
    }

    private mutating func press(_ plug: PlugID) {
        sequences[plug, default: 0] += 1
        let entry = QueuedEvent(
            position: UInt64(journal.count) + 1, plug: plug, sequence: sequences[plug]!,
            payload: "{\"seq\":\(sequences[plug]!)}")
        journal.append(entry)
        handle(.happened(entry))
    }

    private mutating func kill() {
        (isConnected, isConnecting, unanswered) = (false, false, [])
        machine = Self.machine(
            seed: random.next(), known: remembered, after: cursor, newest: UInt64(journal.count))
        handle(.started)
        handle(.paired(paired))
        for plug in present { meet(plug) }
    }

    private mutating func meet(_ plug: PlugID) {
        handle(.met(plug, PlugPortrait(name: "P", firmware: "1", capabilities: [.relay, .button])))
        state(plug)
    }

    private mutating func state(_ plug: PlugID) {
        let time = "\(now.nanoseconds)"
        states[plug] = time
        handle(.state(plug, PlugState(relayOn: true), at: time))
        handle(.system(plug, UpdateReport(phase: .idle), available: time))
    }

    /// Lets time pass, and performs at most one random event; none if `isCalm`.
    mutating func step(isCalm: Bool = false) {
        now = now + .milliseconds(Int64.random(in: 1...40, using: &random))
        if let next = machine.nextDeadline, next <= now { handle(.deadlineReached) }
        for _ in 0..<8 { broker() }
        guard !isCalm, random.chance(0.5) else { return }
        let plug = Self.plugs.randomElement(using: &random)!
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<55: if present.contains(plug) { press(plug) }
        case 55..<70: if present.contains(plug) { state(plug) }
        case 70..<78:
            if paired.contains(plug), present.insert(plug).inserted { meet(plug) }
        case 78..<83: if present.remove(plug) != nil { handle(.away(plug)) }
        case 83..<84:
            paired.remove(plug)
            present.remove(plug)
            handle(.paired(paired))
        case 84..<86:
            paired.insert(plug)
            handle(.paired(paired))
        case 86..<88: kill()
        case 88..<90: perform(drop("reset"))
        case 90..<92:
            // The broker restarts without its retained messages.
            perform(drop("reset"))
            (retained, availableAt) = ([:], [:])
        case 92..<94: isReachable.toggle()
        case 94..<96: isHanging.toggle()
        case 96..<98: isRefusing.toggle()
        case 98..<99:
            handle(.received(BrokerMessage(topic: Door.tree.refresh, payload: [], at: 0)))
        default: now = now + .seconds(Int64.random(in: 1...60, using: &random))
        }
    }

    /// Ends all faults and runs until all work is done.
    mutating func calm() {
        (isReachable, isHanging, isRefusing) = (true, false, false)
        for _ in 0..<30_000 {
            step(isCalm: true)
            if isConnected, unanswered.isEmpty, cursor == UInt64(journal.count), isSettled { return }
        }
    }

    private var isSettled: Bool { expected == retained && present.allSatisfy(hasNewest) }

    /// True if the retained state and system of the plug are the newest ones.
    private func hasNewest(_ plug: PlugID) -> Bool {
        let time = states[plug]!
        return retained[Door.tree.topic(.state, of: plug)]?.contains("\"at\":\"\(time)\"") == true
            && retained[Door.tree.topic(.system, of: plug)]?.contains("\"available\":\"\(time)\"") == true
    }

    private var expected: [String: String] {
        var expected = [Door.tree.availability: "online"]
        for plug in remembered {
            expected[Door.tree.topic(.availability, of: plug)] = present.contains(plug) ? "online" : "offline"
            for kind in [TopicTree.Retained.about, .state, .system] {
                expected[Door.tree.topic(kind, of: plug)] = retained[Door.tree.topic(kind, of: plug)]
            }
            let config = try! HomeAssistantDiscovery().topic(of: plug)
            expected[config] = retained[config]
        }
        return expected
    }

    func check(_ seed: UInt64) {
        #expect(cursor == UInt64(journal.count), "seed \(seed): an event did not reach the broker")
        let topics = Set(retained.keys).union(expected.keys).filter { retained[$0] != expected[$0] }
        #expect(topics == [], "seed \(seed): topics with wrong retained messages")
        #expect(remembered.isSubset(of: paired), "seed \(seed): state of unpaired plugs remains")
        for plug in present {
            #expect(hasNewest(plug), "seed \(seed): the retained state or system is not the newest")
        }
        for plug in Self.plugs {
            let heard = heard[Door.tree.events(of: plug)] ?? []
            // Events may arrive twice; their numbers identify duplicates.
            var seen: Set<SequenceNumber> = []
            let once = heard.filter { seen.insert($0).inserted }
            #expect(
                Set(once) == Set(1...(sequences[plug] ?? 0) + 1).subtracting([(sequences[plug] ?? 0) + 1]),
                "seed \(seed)")
        }
    }
}

@Suite struct BrokerSimulationTests {
    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SMARTPLUG_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...(environment["SMARTPLUG_SEEDS"].flatMap(UInt64.init) ?? 200)
    }

    @Test("After random faults, every event and the newest states are at the broker")
    func everyEventArrivesAndEveryStateStands() {
        for seed in Self.seeds {
            var world = BrokerWorld(seed: seed)
            for _ in 0..<600 { world.step() }
            world.calm()
            world.check(seed)
        }
    }
}
