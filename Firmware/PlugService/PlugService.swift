import AddressService
import Appliance
import FirmwareProcess
import HomeKitDoor
import LinuxNetwork
public import LinuxSystem
public import Logging
import MatterDoor
public import NIOCore
public import NIOPosix
import PlugBroker
import PlugHardware
public import PlugModel
import PlugProtocol
public import PlugTransport
import ProtocolCore
import SleepProxyService
import Storage
import Synchronization
import WiFiService

/// The running plug: the shell of ``Appliance/PlugMachine``. It connects the machine to the parts, the files, the
/// connections of controllers and the network.
///
/// Machine, relay, light and connections run on one event loop, so that an edge of the button switches the relay and
/// sends bytes without a queue in between. Work that may block runs elsewhere: meter and flash have a thread each.
public actor PlugService: ConnectionOwner {
    /// The version of the firmware.
    public static let firmwareVersion = "0.1.0"

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    nonisolated let loop: any EventLoop

    let settings: PlugSettings
    let logger: Logger
    let storage: PlugStorage
    let crashes: CrashReports
    /// The key that identifies the plug in TLS, or nil if the plug stays off the network.
    nonisolated var identity: TransportIdentity? { proof.withLock { $0 } }
    nonisolated let proof: Mutex<TransportIdentity?>
    var machine: PlugMachine
    /// The plug on the network, or nil while it is off the network.
    var presence: NetworkPresence?
    var keyRotation = KeyRotationState.none
    /// The changes of the announcements.
    var announcements = TaskChain()
    /// The address configuration, or nil before ``run(_:logger:until:)`` sets it.
    var addressing: Addressing?
    /// The MQTT connection, or nil if none is configured or the plug is off the network.
    var broker: PlugBroker?
    var homeKitState = HomeKitState.off(fault: nil)
    var matterState = MatterState.off(fault: nil)
    /// The radio, or nil if the plug joins no Wi-Fi networks.
    var wiFi: WiFiService?
    /// The updates, or nil if the plug's system cannot be updated over the network.
    var updates: PlugUpdates?
    /// The sleep proxy, or nil if it is turned off or the plug is off the network.
    var sleepProxy: SleepProxyService?
    /// The registration in a domain, or nil if none is configured or the plug is not announced yet.
    var domain: DomainRegistrar?
    /// The number of the event after which the broker needs every event.
    let beginningForBroker: SequenceNumber
    /// True if the plug starts after a loss of power, false if only the firmware restarted.
    let lostPower: Bool
    let whenReset: @Sendable () -> Void
    /// True after a factory reset, when a new service must start.
    var isReset = false
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugMachine.Action>()
    private(set) var connections = ControllerConnections()

    // Flash; see PlugService+Flash.
    var isKeyKept: Bool
    var flashThread = LazyThread()
    var flash = FlashQueue()
    var resetWaiters = Waiters<Bool>()
    /// The panel clients that wait for a new setup code; one at a time.
    var codeWaiters = Waiters<Bool?>()

    // Parts; see PlugService+Parts.
    var meter = MeterWork()
    var faults = PartFaults()
    /// The channel that reads the button's edges, if they are read from a descriptor.
    var edges: (any Channel)?
    private var watchdog: RepeatedTask?
    /// The next reading of the wall clock; see PlugService+Clock.
    var clock: Scheduled<Void>?

    /// The work that a stop waits for.
    private var ending: (work: Unfinished, waiter: CheckedContinuation<Void, Never>)?

    /// Locks and reads the directories. Nothing is switched before ``start()``.
    ///
    /// - Parameter whenReset: Called when the plug has been reset to factory state. This service then ends.
    /// - Throws: `FileError` if a different plugd uses the same directory, or if its file system does not answer. No
    ///   other state of the disk prevents a start.
    public init(
        _ settings: PlugSettings,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next(),
        files: FileStore = FileStore(), logger: Logger,
        whenReset: @escaping @Sendable () -> Void = {}
    ) throws {
        var random = SystemRandomNumberGenerator()
        // Without /proc every start counts as a new boot.
        let bytes = BootIdentifier.current() ?? (0..<16).map { _ in .random(in: .min ... .max, using: &random) }
        let boot = BootID(bytes: bytes)!
        for directory in [settings.directories.state, settings.directories.runtime] {
            try files.requireAnswer(of: directory)
        }
        let storage = try PlugStorage(
            state: settings.directories.state, runtime: settings.directories.runtime, boot: boot,
            codeAfterReset: settings.codeAfterReset, files: files, random: &random
        ) { notice in
            switch notice.kind {
            case .trouble: logger.error("\(notice)")
            case .recovered: logger.notice("\(notice)")
            }
        }
        if storage.wasReset { logger.notice("reset to factory state") }
        let (proof, isKept) = Self.identity(in: settings.directories, storage, logger: logger)
        let changed = storage.settings()
        let updates = UpdateFolder(settings.directories, files: files).map { PlugUpdates($0) }
        let capabilities = settings.appliance.capabilities.union([.rename, .settings, .audit])
            .union(settings.log == nil ? [] : [.log]).union(settings.matter == nil ? [] : [.matter])
            .union(updates == nil ? [] : [.update]).union(settings.wiFi == nil ? [] : [.wifi])
        var identity = PlugServer.Identity(
            id: storage.id, name: changed.name ?? settings.name ?? Self.usualName(storage.id),
            capabilities: capabilities,
            firmware: Self.firmwareVersion, boot: boot)
        crashes = CrashReports(
            state: settings.directories.state, runtime: settings.directories.runtime, boot: boot, files: files)
        identity.crash = Self.beginReport(crashes, logger)
        self.settings = settings
        self.logger = logger
        self.storage = storage
        self.proof = Mutex(proof)
        isKeyKept = isKept
        self.updates = updates
        self.whenReset = whenReset
        loop = eventLoop
        executor = eventLoop.executor
        // A plug that stays off the network has no key, and no peer sees this one.
        let key = (proof ?? TransportIdentity()).publicKey
        var appliance = settings.appliance
        appliance.hasLamp = settings.parts.lamp != nil
        let access = storage.access(key: key, random: &random)
        let memory = storage.restore(now: BootClock.now)
        lostPower = memory.appliance.powerLost
        machine = PlugMachine(
            appliance, identity: identity, access: access, memory: memory, settings: changed, audit: storage.audit(),
            seed: random.next())
        beginningForBroker = machine.beginningForBroker
    }

    /// Starts the machine. From then on button and relay work, with or without a network.
    public func start() {
        handle(.started)
        // The interfaces may have reported addresses before the start, when the machine ignores events.
        if let networks = addressing?.assumeIsolated({ $0.networks }), !networks.isEmpty { handle(.networks(networks)) }
        resumeKeyRotation()
        relayLog()
        watchButton()
        watchClock()
        settings.supervisor?.notify("READY=1")
        if let limit = settings.supervisor?.watchdog { watch(within: limit) }
    }

    /// Notifies the service manager regularly that the event loop runs.
    private func watch(within limit: Duration) {
        let half = TimeAmount(limit / 2)
        watchdog = loop.scheduleRepeatedTask(initialDelay: half, delay: half) { [weak self] _ in
            self?.assumeIsolated { $0.settings.supervisor?.notify("WATCHDOG=1") }
        }
    }

    /// How long an orderly stop waits for flash: long for a slow card, short compared with the timeout of a service
    /// manager.
    private static let flashEnd = TimeAmount.seconds(10)
    /// How long a stop waits for the meter. A transfer on a stuck I²C bus ends after one second.
    private static let meterEnd = TimeAmount.milliseconds(1500)

    /// Ends the sessions, writes unsaved state to flash and releases the directories.
    public func stop() async {
        if !isReset { settings.supervisor?.notify("STOPPING=1") }
        handle(.stopping)
        await wiFi?.stop()
        settings.log?.detach()
        timer.stop()
        watchdog?.cancel()
        clock?.cancel()
        faults.stop()
        leaveButton()
        await wait(for: .flash, atMost: Self.flashEnd)
        if !flash.jobs.isEmpty { logger.error("flash does not respond; pending writes are lost") }
        if !isReset { await releaseRelay() }
        await wait(for: .meter, atMost: Self.meterEnd)
        flashThread.stop()
        updates?.thread.stop()
        meter.stop()
        crashes.end()
        storage.close()
    }

    /// The work that a stop waits for.
    enum Unfinished { case flash, meter }

    private func isDone(_ work: Unfinished) -> Bool {
        switch work {
        case .flash: flash.isIdle
        case .meter: !meter.isMeasuring
        }
    }

    private func wait(for work: Unfinished, atMost limit: TimeAmount) async {
        guard !isDone(work) else { return }
        let patience = loop.scheduleTask(in: limit) { self.assumeIsolated { $0.endWait() } }
        await withCheckedContinuation { ending = (work, $0) }
        patience.cancel()
    }

    /// Resumes a stop that waits for work, if that work is done. Called when a thread has finished work.
    func resumeShutdownIfIdle() { if let ending, isDone(ending.work) { endWait() } }

    private func endWait() {
        ending?.waiter.resume()
        ending = nil
    }

    /// Sets the name under which the plug is announced.
    func rename(_ name: String) { handle(.renamed(name)) }

    // MARK: Events of connections

    /// Handles a new connection of a controller.
    public func opened(_ connection: Connection) {
        // The plug stopped during the handshake of this connection.
        guard !machine.isStopped else { return connection.close() }
        connections.add(connection)
        logger.debug(
            "controller connected",
            metadata: ["peer": "\(connection.peer)", "key": "\(connection.peerKey.fingerprint)"])
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<PairingTranscript.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        if machine.access.controllers[connection.peerKey] != nil { connection.markPaired() }
        handle(
            .server(
                .opened(
                    PlugServer.Opening(
                        connection.id, peer: connection.peer, key: connection.peerKey, nonce: nonce,
                        isLocal: connection.isLocal))))
        if flash.holdsMessages { handle(.server(.writable(connection.id, false))) }
    }

    /// Handles received bytes of a connection. If its messages wait, pauses reading, so that the peer waits and its
    /// further messages use no memory.
    public func received(_ bytes: [UInt8], on id: ConnectionID) {
        handle(.server(.received(id, bytes)))
        if machine.isReadingPaused(id), connections.pause(id) { connections[id]?.setReading(false) }
    }

    /// Handles a change of a connection's send buffer.
    public func writable(_ isWritable: Bool, on id: ConnectionID) {
        connections.setWritable(id, isWritable)
        if !flash.holdsMessages { handle(.server(.writable(id, isWritable))) }
    }

    /// Pauses or resumes all connections. While messages are held, sessions pause their lanes, and a session that
    /// exceeds its limit of unread messages ends.
    func holdConnections(_ isHeld: Bool) {
        for (id, isWritable) in connections.writability { handle(.server(.writable(id, !isHeld && isWritable))) }
    }

    /// Handles the end of a connection.
    public func closed(_ id: ConnectionID) {
        connections.remove(id)
        handle(.server(.closed(id)))
    }

    // MARK: The machine

    func handle(_ event: PlugMachine.Event) {
        let now = BootClock.now
        perform(machine.begin(event, now: now))
        perform(machine.finish(now: now))
        // The mirror is not rewritten while actions are performed. Their records are not written yet, but the memory
        // already contains them, so they would be written twice.
        if !actions.isPerforming { storage.settle(machine.memory, now: now) }
        for connection in connections.resume(where: { !machine.isReadingPaused($0) }) { connection.setReading(true) }
        finishKeyRotationIfAcknowledged()
        tellBroker()
        tellHomeKit()
        tellMatter()
        tellWiFi()
        restartForUpdateIfOff()
        timer.follow(machine.nextDeadline, now: BootClock.now, on: loop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    /// Performs the actions in order. While the list of controllers is being written, messages are held; parts, mirror
    /// and other writes to flash do not wait.
    func perform(_ due: [PlugMachine.Action]) {
        actions.perform(due) { action in
            if flash.holdsMessages, action.tells { flash.add(action) } else { perform(action) }
        }
    }

    private func perform(_ action: PlugMachine.Action) {
        switch action {
        case .part(let action): perform(action)
        case .server(let action): perform(action)
        case .mirror(let records):
            storage.mirror(records)
            for case .leap(let next) in records {
                logger.warning(
                    "flash failed or does not respond; event numbers continue at \(next), as if the previous events were lost"
                )
            }
        case .persist(let state): write(.state, storage.writing(state))
        case .reserve(let boundary): write(.boundary, storage.reserving(upTo: boundary), boundary: boundary)
        case .keep(let controllers):
            for connection in connections.all(where: { controllers[$0] != nil }) { connection.markPaired() }
            write(.controllers, storage.writing(controllers))
        case .announce(let name): announce(as: name)
        case .setUpNetwork: wiFi?.assumeIsolated { $0.setUp() }
        case .keepSettings(let settings): write(.settings, storage.writing(settings))
        case .keepCode(let code): write(.code, storage.writing(code))
        case .keepAudit(let entries): write(.audit, storage.writing(entries))
        case .factoryReset(let actor): write(.reset, storage.orderingReset(by: actor))
        }
    }

    private func perform(_ action: ApplianceMachine.PartAction) {
        // Each part is read from the settings individually, because a copy of all settings takes as long as switching a
        // part.
        switch action {
        case .setRelay(let on):
            if let relay = settings.parts.relay {
                attempt("switch the relay") { () throws(HardwareFault) in try relay.set(on: on) }
                logger.debug("relay \(on ? "on" : "off")")
            }
        case .setDimmer(let level):
            if let dimmer = settings.parts.dimmer {
                attempt("dim") { () throws(HardwareFault) in try dimmer.set(fraction: level.fraction) }
                logger.trace("level \(level.permille) permille")
            }
        case .setLight(let lit):
            if let lamp = settings.parts.lamp {
                attempt("set the light") { () throws(HardwareFault) in try lamp.set(lit: lit) }
                logger.trace("light \(lit ? "on" : "off")")
            }
        case .readMeter: readMeter()
        }
    }

    private func perform(_ action: PlugServer.ShellAction) {
        switch action {
        case .send(let id, let bytes): connections[id]?.send(bytes)
        case .answer(.broker, let ticket, let outcome): broker?.assumeIsolated { $0.answered(ticket, outcome) }
        case .answer(.homeKit, let ticket, let outcome): homeKit?.assumeIsolated { $0.answered(ticket, outcome) }
        case .answer(.matter, let ticket, let outcome): matter?.assumeIsolated { $0.answered(ticket, outcome) }
        case .manageHomeKit(let id, let order): manageHomeKit(order, for: id)
        case .manageMatter(let id, let order): manageMatter(order, for: id)
        case .manageUpdate(let id, let order): manageUpdate(order, for: id)
        case .manageWiFi(let id, let order): manageWiFi(order, for: id)
        case .close(let id, let reason):
            logger.debug("session ended", metadata: ["reason": "\(reason)"])
            connections[id]?.close()
        case .pairingWindow(let isOpen):
            announcePairing()
            if isOpen { openMatterWindow() }
        case .logLevel(let level): logFollowed(level)
        }
    }
}

extension PlugMachine.Action {
    /// True if the action is visible to others and must wait for the list of controllers. Lists also wait for earlier
    /// lists.
    fileprivate var tells: Bool {
        switch self {
        case .server(.logLevel): false
        case .keep, .server, .announce: true
        case .part, .mirror, .factoryReset, .setUpNetwork, .keepSettings, .keepAudit, .keepCode, .persist, .reserve:
            false
        }
    }
}
