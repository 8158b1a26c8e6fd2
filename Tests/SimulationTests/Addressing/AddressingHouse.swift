import AddressConfiguration
import DNSWire
import ProtocolCore
import SimulatedLAN

/// Plugs, DHCP servers and other hosts on one link, all from one seed.
final class AddressingHouse {
    /// Indirect, so that the queue moves small values.
    indirect enum Item {
        case arrival(AddressingSegment.Arrival)
        case wake(Int)
        /// A program on the plug sends to a neighbour.
        case talk(Int)
        case happening(Happening)
    }

    let seed: UInt64
    /// Stations are numbered in this order: plugs, hosts, servers.
    var plugs: [AddressedPlug] = []
    var hosts: [StubbornHost] = []
    var servers: [ScriptedServer] = []
    var segment: AddressingSegment
    var random: SeededRandom
    private(set) var now = Instant.zero
    private var queue = EventQueue<Item>()
    private var budget: Int
    private var violation: String?
    /// The last frames and events. They are formatted only when a run fails.
    private var trace: [(Instant, String, Any)] = []
    private var traced = 0
    private static let traceLength = 60
    /// Recording a trace costs more than the run itself, so only a failed run is repeated with it.
    private let isTraced: Bool
    let talkEvery: Duration

    init(
        seed: UInt64, plugs count: Int, hosts hostCount: Int, servers: [ScriptedServer], budget: Int, isTraced: Bool
    ) {
        self.seed = seed
        self.isTraced = isTraced
        self.budget = budget
        self.servers = servers
        random = SeededRandom(seed: seed &* 41)
        segment = AddressingSegment(stations: count + hostCount + servers.count, seed: seed &* 43)
        // On average, all plugs together send at most 2.5 ARP requests of `Item.talk` per second, for any number of
        // plugs.
        talkEvery = .milliseconds(max(15_000, count * 400))
        for number in 0..<hostCount {
            hosts.append(StubbornHost(hardware: MACAddress(2, 0, 0, 0, 0xEE, UInt8(number))))
        }
    }

    func add(_ plug: AddressedPlug) {
        schedule(.talk(plugs.count), after: random.duration(in: .zero...talkEvery))
        plugs.append(plug)
    }

    func host(_ number: Int) -> Int { plugs.count + number }
    func server(_ number: Int) -> Int { plugs.count + hosts.count + number }

    func schedule(_ item: Item, after time: Duration) { queue.schedule(item, at: now + time) }

    func run(until end: Duration) throws(SimulationFailure) {
        while let next = queue.nextTime, next <= .zero + end, let (time, item) = queue.next() {
            now = time
            budget -= 1
            guard budget > 0 else { throw failure("a storm: the budget of events is spent") }
            handle(item)
            if let violation { throw failure(violation) }
        }
        now = .zero + end
    }

    private func handle(_ item: Item) {
        switch item {
        case .arrival(let arrival):
            for station in segment.receivers(of: arrival) { deliver(arrival.frame, from: arrival.sender, to: station) }
        case .wake(let plug):
            guard plugs[plug].wake == now else { return }
            plugs[plug].wake = nil
            guard plugs[plug].isRunning, let next = plugs[plug].machine.nextDeadline else { return }
            tell(plug, next <= now ? .deadlineReached : nil)
        case .talk(let plug):
            schedule(.talk(plug), after: talkEvery / 2 + random.duration(in: .zero...talkEvery))
            let target = plugs.randomElement(using: &random)?.assigned.keys.min { $0.rawValue < $1.rawValue }
            guard let target, let question = plugs[plug].question(for: target, &random) else { return }
            send(.arp(question), from: plug)
        case .happening(let happening): happen(happening)
        }
    }

    private func deliver(_ frame: LinkFrame, from sender: Int, to station: Int) {
        switch frame {
        case .arp(let packet):
            if station < plugs.count {
                guard plugs[station].isConcerned(by: packet) else { return }
                act(station) { $0.hear(packet, now: now) }
            } else if station < server(0) {
                guard let answer = hosts[station - plugs.count].answer(packet) else { return }
                send(.arp(answer), from: station)
            } else {
                let own = servers[station - server(0)]
                guard packet.operation == .request, packet.targetAddress == own.address else { return }
                send(.arp(.reply(to: packet, from: own.hardware)), from: station)
            }
        case .dhcp(let message, _):
            if station < plugs.count {
                guard message.operation == .reply, plugs[station].isRunning else { return }
                note("plug \(station) hears", message)
                tell(station, .receivedDHCP(message, from: message.options.serverIdentifier ?? .any))
            } else if station >= server(0) {
                let number = station - server(0)
                guard message.operation == .request,
                    let (reply, wait) = servers[number].answer(message, now: now)
                else { return }
                // Most replies go only to the station with the client's hardware address. The others are broadcast.
                let receiver = plugs.firstIndex { $0.hardware == message.clientHardware }
                let everybody = message.wantsBroadcast || random.chance(0.02)
                schedule(.happening(.reply(number, reply, to: everybody ? nil : receiver)), after: wait)
            }
        }
    }

    func send(_ frame: LinkFrame, from station: Int, to receiver: Int? = nil) {
        note("\(name(station)) sends", frame)
        for (arrival, time) in segment.send(frame, from: station, to: receiver, now: now) {
            queue.schedule(.arrival(arrival), at: time)
        }
    }

    /// Runs a step of a plug, sends its frames, and schedules its next wake-up.
    func act(_ plug: Int, _ body: (AddressedPlug) -> [LinkFrame]) {
        let frames = body(plugs[plug])
        if let broken = plugs[plug].violation { violation = "plug \(plug): \(broken)" }
        for frame in frames {
            if case .dhcp(_, let to?) = frame, let number = servers.firstIndex(where: { $0.address == to }) {
                send(frame, from: plug, to: server(number))
            } else {
                send(frame, from: plug)
            }
        }
        guard plugs[plug].isRunning, let next = plugs[plug].machine.nextDeadline else { return }
        let time = max(next, now)
        guard plugs[plug].wake.map({ time < $0 }) ?? true else { return }
        plugs[plug].wake = time
        queue.schedule(.wake(plug), at: time)
    }

    func tell(_ plug: Int, _ event: AddressingEvent?) {
        if let event { note("plug \(plug)", event) }
        act(plug) { plug in event.map { plug.tell($0, now: now) } ?? [] }
    }

    private func name(_ station: Int) -> String {
        if station < plugs.count { return "plug \(station)" }
        return station < server(0) ? "host \(station - plugs.count)" : "server \(station - server(0))"
    }

    func note(_ what: @autoclosure () -> String, _ detail: Any) {
        guard isTraced else { return }
        let entry = (now, what(), detail)
        if trace.count < Self.traceLength { trace.append(entry) } else { trace[traced % Self.traceLength] = entry }
        traced += 1
    }

    func failure(_ reason: String) -> SimulationFailure {
        let start = trace.count < Self.traceLength ? 0 : traced % Self.traceLength
        let lines = (trace[start...] + trace[..<start]).map { "\(($0.0 - .zero).inSeconds) s \($0.1): \($0.2)" }
        return SimulationFailure(
            seed: seed, reason: "after \((now - .zero).inSeconds) s: \(reason)", trace: lines)
    }
}
