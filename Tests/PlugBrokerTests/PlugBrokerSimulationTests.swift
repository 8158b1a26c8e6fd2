import Foundation
import PlugModel
import PlugProtocol
import PlugTopics
import ProtocolCore
import Testing

@testable import PlugBroker

/// A plug, its broker and a subscriber in virtual time. plugd is killed, the board loses power, the journal overflows,
/// and the broker drops connections, hangs, refuses messages and loses its retained messages.
private struct PlugWorld {
    /// The number of events that the journal holds.
    private static let ring = 40

    private var random: SeededRandom
    private var now = Instant.zero
    private var machine: PlugBrokerMachine

    // State that survives a kill of plugd, because it is in the mirror.
    private var journal: EventJournal
    private var cursor: SequenceNumber?
    /// State that survives a loss of power.
    private var boundary: SequenceNumber = 100
    /// The numbers of all events, and the numbers of the events that the journal lost.
    private var used: Set<SequenceNumber> = []
    private var lost: Set<SequenceNumber> = []

    // The broker.
    private var isReachable = true
    private var isHanging = false
    private var isRefusing = false
    private var isConnected = false
    private var isConnecting = false
    private var retained: [String: String] = [:]
    private var unanswered: [(BrokerTicket, Publication)] = []
    /// The numbers of the events that the subscriber received, in order, and the reported gaps.
    private var heard: [SequenceNumber] = []
    private var gaps: Set<ClosedRange<SequenceNumber>> = []
    /// Events that the broker refused once. Later events that were already sent may have arrived before them.
    private var refused: Set<SequenceNumber> = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        journal = EventJournal(limits: EventJournal.Limits(events: Self.ring))
        machine = PlugBrokerMachine(after: 0, seed: seed)
        start()
    }

    private var newest: SequenceNumber { journal.nextSequence - 1 }

    /// Starts plugd with the state that the previous process left.
    private mutating func start() {
        (isConnected, isConnecting, unanswered) = (false, false, [])
        let beginning = cursor.flatMap { $0 <= newest ? $0 : nil } ?? (journal.count == 0 ? 0 : newest)
        machine = PlugBrokerMachine(after: beginning, seed: random.next())
        handle(.started)
        record(.restarted(powerLost: false))
    }

    private mutating func losePower() {
        // `lost` may contain events that the broker has already accepted. The check subtracts the events that the
        // subscriber received.
        lost.formUnion(used.filter { $0 >= journal.oldestSequence })
        journal = EventJournal(
            nextSequence: boundary, lossBefore: .powerLost, limits: EventJournal.Limits(events: Self.ring))
        (cursor, boundary) = (nil, boundary + 100)
        start()
    }

    private mutating func record(_ kind: PlugEvent.Kind) {
        let oldest = journal.oldestSequence
        let event = journal.append(kind, time: now, boot: boot)
        used.insert(event.sequence)
        if event.sequence + 50 > boundary { boundary += 100 }
        lost.formUnion(used.filter { $0 >= oldest && $0 < journal.oldestSequence })
        look()
    }

    private mutating func look() {
        let state = PlugState(relayOn: used.count % 2 == 0)
        handle(.looked(PlugBrokerMachine.Glance(state: state, portrait: portrait, newest: newest), wall: nil))
    }

    private mutating func handle(_ event: PlugBrokerMachine.Event) {
        var due = machine.handle(event, now: now)
        while !due.isEmpty {
            var more: [PlugBrokerMachine.Action] = []
            for action in due { more += perform(action) }
            due = more
        }
    }

    private mutating func perform(_ action: PlugBrokerMachine.Action) -> [PlugBrokerMachine.Action] {
        switch action {
        case .connect: isConnecting = true
        case .disconnect: return drop("ended")
        case .subscribe, .ask, .readFor: break
        case .tell(let notice): if case .left = notice { Issue.record("the plug reported a gap as dropped events") }
        case .publish(let ticket, let publication):
            #expect(isConnected, "a message was published without a connection")
            unanswered.append((ticket, publication))
        case .read(let sequence, let limit):
            return machine.handle(.page(journal.page(after: sequence, limit: limit), wall: nil), now: now)
        case .keep(let sequence):
            #expect(sequence >= cursor ?? 0)
            cursor = sequence
        }
        return []
    }

    private mutating func drop(_ reason: String) -> [PlugBrokerMachine.Action] {
        guard isConnected || isConnecting else { return [] }
        (isConnected, isConnecting, unanswered) = (false, false, [])
        return machine.handle(.disconnected(reason: reason), now: now)
    }

    private mutating func perform(_ actions: [PlugBrokerMachine.Action]) {
        var due = actions
        while !due.isEmpty { due = due.flatMap { perform($0) } }
    }

    private mutating func broker() {
        if isConnecting {
            guard isReachable else { return perform(drop("refused")) }
            (isConnecting, isConnected) = (false, true)
            return handle(.connected)
        }
        guard !isHanging, !unanswered.isEmpty else { return }
        let (ticket, publication) = unanswered.removeFirst()
        guard !isRefusing else {
            if publication.topic.hasSuffix("/event"), let sequence = Self.number("seq", in: publication) {
                refused.insert(sequence)
            }
            return handle(.acknowledged(ticket, refusal: "Quota exceeded"))
        }
        take(publication)
        // The broker may have the message although its acknowledgement is lost.
        if random.chance(0.02) { return perform(drop("reset")) }
        handle(.acknowledged(ticket, refusal: nil))
    }

    private mutating func take(_ publication: Publication) {
        guard publication.topic.hasSuffix("/event") else { return retained[publication.topic] = publication.payload }
        guard let sequence = Self.number("seq", in: publication) else {
            Issue.record("the event has no sequence number: \(publication.payload)")
            return
        }
        guard let from = Self.number("from", in: publication), let to = Self.number("to", in: publication) else {
            return heard.append(sequence)
        }
        #expect(to == sequence && from <= to)
        gaps.insert(from...to)
    }

    private static func number(_ key: String, in publication: Publication) -> SequenceNumber? {
        publication.payload.split(separator: "\"\(key)\":").dropFirst().first.flatMap {
            SequenceNumber($0.prefix { $0.isNumber })
        }
    }

    /// Lets time pass, and performs at most one random event; none if `isCalm`.
    mutating func step(isCalm: Bool = false) {
        now = now + .milliseconds(Int64.random(in: 1...40, using: &random))
        if let next = machine.nextDeadline, next <= now { handle(.deadlineReached) }
        for _ in 0..<8 { broker() }
        guard !isCalm, random.chance(0.5) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<70: record(.buttonPressed(.single))
        case 70..<74: start()
        case 74..<75: losePower()
        case 75..<80: perform(drop("reset"))
        case 80..<82:
            perform(drop("reset"))
            retained = [:]
        case 82..<86: isReachable.toggle()
        case 86..<90: isHanging.toggle()
        case 90..<94: isRefusing.toggle()
        default: now = now + .seconds(Int64.random(in: 1...30, using: &random))
        }
    }

    /// Ends all faults and lets the plug finish its work.
    mutating func calm() {
        (isReachable, isHanging, isRefusing) = (true, false, false)
        for _ in 0..<30_000 {
            step(isCalm: true)
            if isConnected, unanswered.isEmpty, cursor == newest, hasNewest { return }
        }
    }

    /// True if the retained messages are the newest ones.
    private var hasNewest: Bool {
        retained[tree.topic(.availability, of: plug)] == "online"
            && retained[tree.topic(.state, of: plug)]?.contains("\"on\":\(used.count % 2 == 0)") == true
    }

    func check(_ seed: UInt64) {
        #expect(cursor == newest, "seed \(seed): the broker has not accepted all events")
        let untold = used.subtracting(heard).filter { number in !gaps.contains { $0.contains(number) } }
        #expect(untold.isEmpty, "seed \(seed): events \(untold.sorted()) were neither published nor in a gap")
        let given = used.subtracting(heard).subtracting(lost)
        #expect(given.isEmpty, "seed \(seed): events \(given.sorted()) were in the journal but not published")
        // The events are in order, except for those that the broker refused.
        var highest: SequenceNumber = 0
        for number in heard where number > highest {
            let between = used.filter { $0 > highest && $0 < number }
            #expect(
                between.subtracting(refused).allSatisfy { one in gaps.contains { $0.contains(one) } },
                "seed \(seed): event \(number) was published before events \(between.sorted())")
            highest = number
        }
        #expect(hasNewest, "seed \(seed): the retained availability or state is not the newest")
    }
}

@Suite struct PlugBrokerSimulationTests {
    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SMARTPLUG_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...(environment["SMARTPLUG_SEEDS"].flatMap(UInt64.init) ?? 200)
    }

    @Test("Every event is published or reported as lost") func everyEventIsToldOrSaidToBeLost() {
        for seed in Self.seeds {
            var world = PlugWorld(seed: seed)
            for _ in 0..<600 { world.step() }
            world.calm()
            world.check(seed)
        }
    }
}
