import AddressService
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
import Storage

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
    let storage: PlugStorage
    /// What the plug proves itself with; nil: it stays off the network.
    nonisolated let identity: TransportIdentity?
    var machine: PlugMachine
    var discovery: Discovery?
    var registration: Registration?
    /// Nil where nobody asked for it; see ``run(_:logger:until:)``.
    var addressing: Addressing?
    private var isKeyKept: Bool
    private let whenReset: @Sendable () -> Void
    /// It was set back to factory state, and another one has to begin.
    private(set) var isReset = false
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugMachine.Action>()
    private var connections: [ConnectionID: Connection] = [:]
    /// What failed last of each thing that the parts are asked to do: a fault is told once, not at every measurement.
    private var faults: [String: String] = [:]

    /// Takes the directories and reads them; nothing moves before ``start()``.
    ///
    /// - Parameter whenReset: is called when the plug has been set back to factory state: this one ends then.
    /// - Throws: `FileError` where another plugd works in the same directory. No other state of the disk keeps a plug from
    ///   starting.
    public init(
        _ settings: PlugSettings,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next(), logger: Logger,
        whenReset: @escaping @Sendable () -> Void = {}
    ) throws {
        var random = SystemRandomNumberGenerator()
        // Without /proc every start counts as a new boot.
        let bytes = BootIdentifier.current() ?? (0..<16).map { _ in .random(in: .min ... .max, using: &random) }
        let boot = BootID(bytes: bytes)!
        let storage = try PlugStorage(
            state: settings.directories.state, runtime: settings.directories.runtime, boot: boot, random: &random
        ) { notice in
            switch notice.kind {
            case .trouble: logger.error("\(notice)")
            case .recovered: logger.notice("\(notice)")
            }
        }
        if storage.wasReset { logger.notice("set back to factory state") }
        let (proof, isKept) = Self.identity(in: settings.directories, storage, logger: logger)
        let identity = PlugServer.Identity(
            id: storage.id, name: settings.name ?? "Plug \(storage.id.short)",
            capabilities: settings.appliance.capabilities, firmware: Self.firmwareVersion, boot: boot)
        self.settings = settings
        self.logger = logger
        self.storage = storage
        self.identity = proof
        isKeyKept = isKept
        self.whenReset = whenReset
        loop = eventLoop
        executor = eventLoop.executor
        // Off the network nobody sees the key.
        let key = (proof ?? TransportIdentity()).publicKey
        machine = PlugMachine(
            settings.appliance, identity: identity, access: storage.access(key: key, random: &random),
            memory: storage.restore(now: BootClock.now), seed: random.next())
    }

    /// The button and the relay work from here on, with or without a network.
    public func start() throws {
        handle(.started)
        try settings.parts.button?.watch { [weak self] edge in
            guard let self else { return }
            loop.execute { self.assumeIsolated { $0.handle(.buttonEdge(down: edge.down, at: edge.time)) } }
        }
    }

    /// Says goodbye to the controllers, writes what flash lacks and gives the directories back.
    public func stop() {
        handle(.stopping)
        timer.stop()
        storage.close()
    }

    /// The name under which the plug is known now.
    func rename(_ name: String) { handle(.renamed(name)) }

    // MARK: What the connections report

    public func opened(_ connection: Connection) {
        // Its handshake was under way when the plug was stopped.
        guard !machine.isStopped else { return connection.close() }
        connections[connection.id] = connection
        logger.debug(
            "controller connected",
            metadata: ["peer": "\(connection.peer)", "key": "\(connection.peerKey.fingerprint)"])
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<PairingTranscript.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        if machine.access.controllers[connection.peerKey] != nil { connection.markPaired() }
        handle(
            .opened(PlugServer.Opening(connection.id, peer: connection.peer, key: connection.peerKey, nonce: nonce)))
    }

    public func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(id, bytes)) }

    public func writable(_ isWritable: Bool, on id: ConnectionID) { handle(.writable(id, isWritable)) }

    public func closed(_ id: ConnectionID) {
        connections[id] = nil
        handle(.closed(id))
    }

    // MARK: The machine

    func handle(_ event: PlugMachine.Event) {
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now), by: perform)
        // What is still to be mirrored would be in the memory too, and then twice in the mirror.
        if !actions.isPerforming { storage.settle(machine.memory, now: now) }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: loop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: PlugMachine.Action) {
        switch action {
        case .setRelay(let on): attempt("switch the relay") { try settings.parts.relay?.set(on: on) }
        case .setDimmer(let level): attempt("dim") { try settings.parts.dimmer?.set(fraction: level.fraction) }
        case .setLight(let lit): attempt("set the light") { try settings.parts.lamp?.set(lit: lit) }
        case .readMeter: readMeter()
        case .mirror(let records): storage.mirror(records)
        case .persist(let state): if !storage.persist(state) { handle(.persistFailed) }
        case .reserve(let boundary):
            handle(storage.reserve(upTo: boundary) ? .reserved(boundary) : .reservationFailed)
        case .keep(let controllers): keep(controllers)
        case .pairingWindow: announcePairing()
        case .factoryReset: reset()
        case .send(let id, let bytes): connections[id]?.send(bytes)
        case .close(let id, let reason):
            logger.debug("session ended", metadata: ["reason": "\(reason)"])
            connections[id]?.close()
        }
    }

    private func reset() {
        guard storage.orderReset() else { return handle(.resetFailed) }
        isReset = true
        handle(.resetStands)
        whenReset()
    }

    private func keep(_ controllers: PairedControllers) {
        for connection in connections.values where controllers[connection.peerKey] != nil { connection.markPaired() }
        // They pinned the key: with another one after a restart it would be of no use to know them.
        if let identity, !isKeyKept { isKeyKept = (try? identity.keep(in: settings.directories.key)) == true }
        if !isKeyKept || !storage.keep(controllers) { handle(.keepFailed) }
    }

    private func readMeter() {
        var answer: PlugMachine.Event? = .meterFailed
        attempt("read the meter") { answer = try settings.parts.meter.map { .measured(try $0.measure()) } }
        if let answer { handle(answer) }
    }

    /// A part that fails is said and lived with: the button must go on working.
    private func attempt(_ what: String, _ work: () throws -> Void) {
        do {
            try work()
            if faults.removeValue(forKey: what) != nil { logger.notice("can \(what) again") }
        } catch {
            let reason = "\(error)"
            if faults.updateValue(reason, forKey: what) != reason { logger.error("cannot \(what): \(reason)") }
        }
    }
}
