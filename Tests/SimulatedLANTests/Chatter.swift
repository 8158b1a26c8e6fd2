import ProtocolCore
import SimulatedLAN

/// A host that logs its events and performs the requested actions.
struct Chatter: SimulatedHost {
    enum Stimulus: Sendable {
        case act(HostAction)
        case actInTurn([HostAction])
        /// Sets a deadline that is due at once, and again after each time it is reached, forever.
        case storm
    }

    enum Note: Hashable, Sendable {
        case started(Start.Cause)
        case up(InterfaceID), down(InterfaceID)
        case datagram([UInt8])
        case accepted(port: UInt16), connected
        case writable(Bool)
        case closed(StreamEnd)
        case stepped(Duration)
        case alarm
    }

    struct Entry: Hashable, Sendable {
        var note: Note
        var at: Instant
    }

    /// The time from each start until an alarm, or nil for no alarm.
    var alarm: Duration?
    var log: [Entry] = []
    var bytes: [UInt8] = []
    var pieces = 0
    var boots: [UInt64] = []
    var lastAccepted: StreamID?
    private(set) var nextDeadline: Instant?

    init(alarm: Duration? = nil) { self.alarm = alarm }

    mutating func handle(_ event: HostEvent<Stimulus>, now: Instant) -> [HostAction] {
        func note(_ note: Note) { log.append(Entry(note: note, at: now)) }
        switch event {
        case .started(let start):
            note(.started(start.cause))
            boots.append(start.boot)
            nextDeadline = alarm.map { now + $0 }
            return [.listen(port: 80)]
        case .interfaceUp(let interface, _): note(.up(interface))
        case .interfaceDown(let interface): note(.down(interface))
        case .datagram(let datagram, _): note(.datagram(datagram.payload))
        case .accepted(let stream, let port, _):
            note(.accepted(port: port))
            lastAccepted = stream
        case .connected: note(.connected)
        case .received(_, let received):
            pieces += 1
            bytes += received
        case .writable(_, let writable): note(.writable(writable))
        case .closed(_, let end): note(.closed(end))
        case .wallClockStepped(let step): note(.stepped(step))
        case .stimulus(.act(let action)): return [action]
        case .stimulus(.actInTurn(let actions)): return actions
        case .stimulus(.storm): nextDeadline = now
        case .deadlineReached:
            note(.alarm)
            nextDeadline = alarm == nil ? now : nil
        }
        return []
    }

    var notes: [Note] { log.map(\.note) }
}

/// Two hosts, 192.0.2.1 and 192.0.2.2, running on one link.
struct Pair {
    let lan: SimulatedLAN<Chatter>
    let link: LinkID
    let left: HostID
    let right: HostID
    let leftInterface: InterfaceID
    let rightInterface: InterfaceID

    init(seed: UInt64 = 1, _ faults: LinkFaults = .none, budget: Int = 100_000) {
        lan = SimulatedLAN(seed: seed, budget: budget)
        link = lan.addLink(faults)
        left = lan.add(Chatter(), name: "left")
        right = lan.add(Chatter(), name: "right")
        leftInterface = lan.attach(left, to: link, addresses: [IPAddress(192, 0, 2, 1)])
        rightInterface = lan.attach(right, to: link, addresses: [IPAddress(192, 0, 2, 2)])
        lan.schedule(.powerOn(left))
        lan.schedule(.powerOn(right))
    }

    func datagram(_ payload: [UInt8], to destination: IPAddress = IPAddress(224, 0, 0, 251)) -> Chatter.Stimulus {
        let source = Endpoint(IPAddress(192, 0, 2, 1), 5353)
        return .act(.send(Datagram(from: source, to: Endpoint(destination, 5353), payload), on: leftInterface))
    }

    func connect(_ stream: UInt32 = 1, port: UInt16 = 80) -> Chatter.Stimulus {
        .act(.connect(StreamID(stream), to: Endpoint(IPAddress(192, 0, 2, 2), port)))
    }

    func write(_ bytes: [UInt8], _ stream: UInt32 = 1) -> Chatter.Stimulus { .act(.write(StreamID(stream), bytes)) }

    /// Returns the events of a host after the first two: its start, and its interface that came up.
    func notes(_ host: HostID) -> [Chatter.Note] { Array(lan[host].notes.dropFirst(2)) }
}
