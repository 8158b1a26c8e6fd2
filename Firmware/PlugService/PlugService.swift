import Appliance
import DurableFiles
import LinuxNetwork
public import Logging
public import NIOCore
public import NIOPosix
import PlugHardware
public import PlugProtocol
public import PlugTransport
import ProtocolCore

/// The running plug: the shell of ``Appliance/PlugMachine``. It brings the machine together with its parts, its files, its
/// controllers' connections and its place on the network.
///
/// Everything runs on one event loop: an edge of the button becomes a relay moved and bytes written without a queue between.
public actor PlugService: ConnectionOwner {
    public static let firmwareVersion = "0.1.0"

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    nonisolated let loop: any EventLoop

    let settings: PlugSettings
    let logger: Logger
    private let directory: StateDirectory
    var machine: PlugMachine
    var discovery: Discovery?
    private var reserved: SequenceNumber
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugMachine.Action>()
    private var connections: [ConnectionID: Connection] = [:]
    /// After the last number was written none may be used any more.
    private var isStopped = false

    /// Takes the state directory and reads it; nothing moves before ``start()``.
    ///
    /// - Parameter eventLoop: one is all that a plug needs; each thread more costs memory.
    /// - Throws: what is wrong with the state directory.
    public init(
        _ settings: PlugSettings,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next(), logger: Logger
    ) throws {
        var random = SystemRandomNumberGenerator()
        let directory = try StateDirectory(settings.stateDirectory, random: &random)
        // Without /proc every start counts as a new boot.
        let boot = BootIdentifier.current() ?? (0..<16).map { _ in .random(in: .min ... .max, using: &random) }
        let next = try directory.nextSequence()
        // The boundary moves ahead before a number below it is used: a power cut can then repeat none.
        let boundary = next + StateDirectory.reservation
        try directory.write(nextSequence: boundary)
        let identity = PlugServer.Identity(
            id: directory.id, name: settings.name ?? "Plug \(directory.id.short)",
            capabilities: settings.appliance.capabilities, firmware: Self.firmwareVersion, boot: BootID(bytes: boot)!)
        self.settings = settings
        self.logger = logger
        self.directory = directory
        loop = eventLoop
        executor = eventLoop.executor
        reserved = boundary
        machine = PlugMachine(settings.appliance, identity: identity, journal: EventJournal(nextSequence: next))
    }

    /// The button and the relay work from here on, with or without a network.
    public func start() throws {
        let stored = try directory.storedState()
        let powerLost = stored?.boot != machine.identity.boot
        handle(.started(stored?.state, powerLost: powerLost))
        if powerLost {
            // Flash names the present boot from here on: a restart of the firmware alone is then none of the board.
            attempt("write the state") {
                try directory.write(stored?.state ?? StoredState(), boot: machine.identity.boot)
            }
        }
        try settings.parts.button?.watch { [weak self] edge in
            guard let self else { return }
            loop.execute { self.assumeIsolated { $0.handle(.buttonEdge(down: edge.down)) } }
        }
    }

    /// Says goodbye to the controllers and writes what flash lacks.
    public func stop() {
        handle(.stopping)
        isStopped = true
        timer.stop()
        attempt("write the next event's number") { try directory.write(nextSequence: machine.nextSequence) }
    }

    /// The name under which the plug is known now.
    func rename(_ name: String) { handle(.renamed(name)) }

    // MARK: What the connections report

    public func opened(_ connection: Connection) {
        connections[connection.id] = connection
        logger.debug("controller connected", metadata: ["peer": "\(connection.peer)"])
        handle(.opened(connection.id, peer: connection.peer))
    }

    public func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(id, bytes)) }

    public func writable(_ isWritable: Bool, on id: ConnectionID) { handle(.writable(id, isWritable)) }

    public func closed(_ id: ConnectionID) {
        connections[id] = nil
        handle(.closed(id))
    }

    // MARK: The machine

    func handle(_ event: PlugMachine.Event) {
        guard !isStopped else { return }
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        reserveNumbers()
        timer.follow(machine.nextDeadline, now: BootClock.now, on: loop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: PlugMachine.Action) {
        let parts = settings.parts
        switch action {
        case .setRelay(let on): attempt("switch the relay") { try parts.relay?.set(on: on) }
        case .setDimmer(let level): attempt("dim") { try parts.dimmer?.set(fraction: level.fraction) }
        case .setLight(let lit): attempt("set the light") { try parts.lamp?.set(lit: lit) }
        case .readMeter: readMeter()
        case .persist(let state): attempt("write the state") { try directory.write(state, boot: machine.identity.boot) }
        case .send(let id, let bytes): connections[id]?.send(bytes)
        case .close(let id, let reason):
            logger.debug("session ended", metadata: ["reason": "\(reason)"])
            connections[id]?.close()
        }
    }

    private func readMeter() {
        do {
            guard let measurement = try settings.parts.meter?.measure() else { return }
            handle(.measured(measurement))
        } catch {
            logger.warning("the meter did not answer: \(error)")
            handle(.meterFailed)
        }
    }

    /// A part or a disk that fails is said and lived with: the button must go on working.
    private func attempt(_ what: String, _ work: () throws -> Void) {
        do { try work() } catch { logger.error("cannot \(what): \(error)") }
    }

    private func reserveNumbers() {
        guard machine.nextSequence >= reserved else { return }
        reserved = machine.nextSequence + StateDirectory.reservation
        attempt("reserve event numbers") { try directory.write(nextSequence: reserved) }
    }
}
