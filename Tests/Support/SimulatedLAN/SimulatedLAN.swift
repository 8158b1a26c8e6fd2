public import ProtocolCore

/// Hosts on links in virtual time, with faults. One seed determines everything: the same seed gives the same run.
///
/// Hosts are machines. The LAN passes the next scheduled event to its host, performs the actions and checks the test's
/// invariant. A run with more deliveries than its budget is a storm and fails.
public final class SimulatedLAN<Host: SimulatedHost> {
    enum Scheduled {
        case fault(Fault)
        case stimulus(HostID, Host.Stimulus)
        case deadline(HostID, token: UInt64)
        case datagram(Datagram, from: HostID, to: InterfaceID)
        case stream(StreamStep)
    }

    /// The seed of the run.
    public let seed: UInt64
    /// The limit of a stream's send buffer in bytes. A full stream is writable again when its
    /// buffer holds at most a quarter of the limit.
    public let sendBuffer: Int
    /// The remaining number of deliveries to hosts.
    public private(set) var budget: Int
    /// The time since the start of the run; each host's own clock counts from its boot.
    public private(set) var now = Instant.zero
    /// The capture of all packets since it was set; nil for none.
    public var capture: PacketCapture?
    private let captures: CaptureFolder?
    var random: SeededRandom
    var queue = EventQueue<Scheduled>()
    var slots: [HostSlot<Host>] = []
    var links: [Link] = []
    var interfaces: [Interface] = []
    var streams: [Int: Stream] = [:]
    var nextStream = 0
    private var trace = Trace()

    /// Creates a LAN without links and hosts.
    ///
    /// - Parameters:
    ///   - budget: the limit of deliveries; it should be several times the number of deliveries in a correct run.
    ///   - captures: the folder for the capture after the run; nil for none.
    public init(
        seed: UInt64, budget: Int, sendBuffer: Int = 65_536, captures: CaptureFolder? = .ofProcess
    ) {
        self.seed = seed
        self.sendBuffer = sendBuffer
        self.budget = budget
        random = SeededRandom(seed: seed)
        self.captures = captures
        capture = captures.map { _ in PacketCapture() }
    }

    deinit {
        if let capture, capture.packets > 0 { captures?.keep(capture, hosts: "\(Host.self)", seed: seed) }
    }

    // MARK: Building

    /// Adds a link with these faults.
    public func addLink(_ faults: LinkFaults = .none) -> LinkID {
        links.append(Link(faults: faults))
        return LinkID(index: links.count - 1)
    }

    /// Adds a host that is off; ``Fault/powerOn(_:)`` starts it.
    public func add(_ host: Host, name: String) -> HostID {
        slots.append(HostSlot(host: host, name: name, random: random.split()))
        return HostID(index: slots.count - 1)
    }

    /// Connects a host to a link by a new interface with these addresses.
    @discardableResult
    public func attach(_ host: HostID, to link: LinkID, addresses: [IPAddress]) -> InterfaceID {
        let interface = InterfaceID(index: interfaces.count)
        interfaces.append(Interface(host: host, link: link, addresses: addresses))
        links[link.index].interfaces.append(interface)
        slots[host.index].interfaces.append(interface)
        if slots[host.index].power == .running { reportInterfaces(of: host) }
        return interface
    }

    /// Schedules a fault.
    public func schedule(_ fault: Fault, after delay: Duration = .zero) {
        queue.schedule(.fault(fault), at: now + delay)
    }

    /// Schedules a stimulus. A host that is not running at that time does not receive it.
    public func schedule(_ stimulus: Host.Stimulus, on host: HostID, after delay: Duration = .zero) {
        queue.schedule(.stimulus(host, stimulus), at: now + delay)
    }

    // MARK: State

    /// The current value of a host.
    public subscript(host: HostID) -> Host { slots[host.index].host }
    /// Returns true if the host has power, its process runs, and it is not suspended.
    public func isRunning(_ host: HostID) -> Bool { slots[host.index].power == .running }
    /// Returns the time of the host's own clock: the time since its last boot.
    public func clock(of host: HostID) -> Instant { slots[host.index].clock(now) }
    /// Returns the difference between the host's wall clock and the time of the run.
    public func wallClockOffset(of host: HostID) -> Duration { slots[host.index].wallClockOffset }

    // MARK: Running

    /// Runs for this duration. When no event is left, the time jumps to the end.
    ///
    /// - Parameter invariant: checked after every delivery and its immediate effects; an error ends the run.
    /// - Throws: ``SimulationFailure``.
    public func run(
        for duration: Duration, invariant: (SimulatedLAN) throws -> Void = { _ in }
    ) throws(SimulationFailure) {
        let end = now + duration
        while let time = queue.nextTime, time <= end, let (_, item) = queue.next() {
            now = time
            let before = budget
            perform(item)
            guard budget > 0 else { throw failure("a storm: the budget of deliveries is spent") }
            guard budget < before else { continue }
            do {
                try invariant(self)
            } catch {
                throw failure("\(error)")
            }
        }
        now = end
    }

    /// Returns a failure of this run, for a violation that a test finds after the run.
    public func failure(_ reason: String) -> SimulationFailure {
        SimulationFailure(seed: seed, reason: "after \((now - .zero).inSeconds) s: \(reason)", trace: trace.lines)
    }

    private func perform(_ item: Scheduled) {
        switch item {
        case .fault(let fault):
            apply(fault)
        case .stimulus(let host, let stimulus):
            deliver(.stimulus(stimulus), to: host)
        case .deadline(let host, let token):
            guard slots[host.index].deadlineToken == token else { return }
            slots[host.index].deadline = nil
            deliver(.deadlineReached, to: host)
        case .datagram(let datagram, let sender, let interface):
            arrive(datagram, from: sender, at: interface)
        case .stream(let step):
            advance(step)
        }
    }

    /// Delivers an event to a running host. For a suspended host, events of its streams and steps of its wall clock are
    /// held until it resumes, and other events are dropped. A host without power or process receives no events.
    func deliver(_ event: HostEvent<Host.Stimulus>, to host: HostID) {
        switch slots[host.index].power {
        case .off, .stopped: return
        case .suspended: return hold(event, for: host)
        case .running: break
        }
        guard budget > 0 else { return }
        budget -= 1
        note(event, host)
        let actions = slots[host.index].host.handle(event, now: slots[host.index].clock(now))
        for action in actions {
            // An earlier action may have ended the process of the host.
            guard slots[host.index].power == .running else { break }
            perform(action, of: host)
        }
        arm(host)
    }

    private func hold(_ event: HostEvent<Host.Stimulus>, for host: HostID) {
        switch event {
        case .accepted, .connected, .received, .writable, .closed, .wallClockStepped:
            slots[host.index].held.append(event)
        case .started, .interfaceUp, .interfaceDown, .datagram, .stimulus, .deadlineReached:
            break
        }
    }

    private func perform(_ action: HostAction, of host: HostID) {
        switch action {
        case .send(let datagram, let interface): send(datagram, from: host, on: interface)
        case .listen(let port): slots[host.index].ports.insert(port)
        case .connect(let stream, let endpoint): connect(host, stream, to: endpoint)
        case .write(let stream, let bytes): write(bytes, to: stream, of: host)
        case .close(let stream): close(stream, of: host)
        case .setReading(let stream, let reading): setReading(reading, stream, of: host)
        case .breakDown(.powerCut): powerCut(host)
        case .breakDown(.kill): kill(host)
        }
    }

    /// Schedules the host's next deadline if it differs from the scheduled one.
    func arm(_ host: HostID) {
        let slot = slots[host.index]
        guard slot.power == .running, let own = slot.host.nextDeadline else {
            slots[host.index].deadline = nil
            slots[host.index].deadlineToken += 1
            return
        }
        let deadline = max(now, slot.bootedAt + (own - .zero))
        guard slot.deadline != deadline else { return }
        slots[host.index].deadline = deadline
        slots[host.index].deadlineToken += 1
        queue.schedule(.deadline(host, token: slots[host.index].deadlineToken), at: deadline)
    }

    private func note(_ event: HostEvent<Host.Stimulus>, _ host: HostID) {
        var bytes: Int?
        let text: String
        switch event {
        case .started(let start): text = start.cause == .powerOn ? "powered on" : "started"
        case .interfaceUp: text = "interface up"
        case .interfaceDown: text = "interface down"
        case .datagram(let datagram, _): (text, bytes) = ("datagram", datagram.payload.count)
        case .accepted: text = "accepted a stream"
        case .connected: text = "connected"
        case .received(_, let received): (text, bytes) = ("received", received.count)
        case .writable(_, let writable): text = writable ? "writable" : "not writable"
        case .closed(_, let end):
            text =
                switch end {
                case .finished: "stream finished"
                case .reset: "stream reset"
                case .refused: "connection refused"
                case .unreachable: "host unreachable"
                case .timedOut: "stream timed out"
                }
        case .wallClockStepped: text = "wall clock stepped"
        case .stimulus: text = "stimulus"
        case .deadlineReached: text = "deadline"
        }
        trace.add(Trace.Entry(time: now, host: slots[host.index].name, event: text, bytes: bytes))
    }
}
