import Crypto
public import DNSWire
public import JSONText
public import LinuxNetwork
import LinuxSystem
public import Logging
public import Matter
import MatterCryptography
import MatterSessions
import MulticastDNS
public import NIOCore
public import PlugModel
public import PlugProtocol
import ProtocolCore

/// The shell of ``MatterDoorMachine``: the UDP port, the timer, and calls to the plug.
public actor MatterDoor {
    /// The calls to the plug, made on the event loop.
    public struct Plug: Sendable {
        /// Returns the journal's entries after an event, up to a limit.
        public var page: @Sendable (_ after: SequenceNumber, _ limit: Int) -> JournalPage
        /// Performs a command. Its outcome is passed to ``MatterDoor/answered(_:_:)``.
        public var ask: @Sendable (DoorCommand) -> Void
        /// Writes the records to flash. The result is passed to ``MatterDoor/stored(_:)``.
        public var keep: @Sendable ([UInt8]) -> Void
        /// Adds an entry to the audit log.
        public var note: @Sendable (AuditNote) -> Void
        /// Publishes the changed ``MatterDoor/announcements``.
        public var announce: @Sendable () -> Void

        /// Creates the calls.
        public init(
            page: @escaping @Sendable (_ after: SequenceNumber, _ limit: Int) -> JournalPage,
            ask: @escaping @Sendable (DoorCommand) -> Void, keep: @escaping @Sendable ([UInt8]) -> Void,
            note: @escaping @Sendable (AuditNote) -> Void, announce: @escaping @Sendable () -> Void
        ) {
            (self.page, self.ask, self.keep, self.note, self.announce) = (page, ask, keep, note, announce)
        }
    }

    /// The UDP port of Matter (IANA).
    public static let usualPort: UInt16 = 5540
    private static let vendorName = "Smart Plug Project"

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// The passcode, discriminator and ids of the label.
    public nonisolated let label: MatterLabel
    /// The interface that names the host in announcements.
    public nonisolated let interface: MatterInterface
    private let plug: Plug
    private let logger: Logger
    private var machine: MatterDoorMachine
    private let actions = ActionQueue<MatterDoorMachine.Action>()
    /// The commands that the plug has not received yet.
    private var commands: [DoorCommand] = []
    private var timer = DeadlineTimer()
    private var port: DatagramPort?
    /// Returns false for the address of a peer in another network.
    private var isLocal: @Sendable (IPAddress) -> Bool = { _ in true }
    private var following: Task<Void, Never>?
    /// The multicast addresses of groups, and the interfaces on which their datagrams are received.
    private var groups: Set<[UInt8]> = []
    private var interfaces: Set<InterfaceID> = []
    /// The addresses that the device reports.
    private var addresses: [[UInt8]] = []
    /// The callers that wait until a change is in flash.
    private var managing: [@Sendable (Result<MatterReport, Refusal>) -> Void] = []
    private var isStarted = false
    private var isEnding = false

    /// Creates a Matter device that does not listen yet.
    ///
    /// - Parameters:
    ///   - name: the name that the user chose.
    ///   - records: the records in flash; nil if the plug was never commissioned.
    ///   - lostPower: true after a loss of power, when the start-up settings of controllers apply.
    /// - Throws: ``MatterDoorFault`` if libcrypto is not available or the records are not valid.
    public init(
        _ device: MatterPlug, name: String, label: MatterLabel, credentials: MatterCredentials,
        interface: MatterInterface, records: [UInt8]?, lostPower: Bool, on eventLoop: any EventLoop, logger: Logger,
        asking plug: Plug
    ) throws(MatterDoorFault) {
        self.label = label
        self.interface = interface
        self.plug = plug
        self.logger = logger
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        var random = SystemRandomNumberGenerator()
        do {
            let known = try records.map { try MatterRecords(decoding: $0) }
            let configuration = MatterDevice.Configuration(
                vendor: label.vendor, product: label.product, verifier: label.verifier,
                discriminator: label.discriminator, vendorName: Self.vendorName, productName: device.product,
                serialNumber: device.id.rawValue, firmware: device.firmware, firmwareNumber: device.firmwareNumber,
                features: device.features, attestation: credentials.attestation, uniqueID: Self.uniqueID(device.id),
                hardwareAddress: interface.hardwareAddress, interfaceName: interface.name,
                name: MatterPlug.shortened(name), startReason: lostPower ? .powerOn : .softwareReset)
            let matter = MatterDevice(
                configuration, records: known ?? MatterRecords(), cryptography: try OpenSSLCryptography(),
                seed: random.bytes(MatterRandomness.seedLength))
            machine = MatterDoorMachine(device, matter, seed: random.next())
        } catch {
            throw MatterDoorFault(description: "\(error)")
        }
    }

    /// An id that does not reveal the plug's id, which is the serial number (Matter 11.1.5.19).
    private static func uniqueID(_ plug: PlugID) -> String {
        let hash = SHA256.hash(data: Array("smartplug Matter unique id \(plug.rawValue)".utf8))
        return HexadecimalText.text(of: Array(hash.prefix(16)))
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - interfaces: the interfaces whose changed addresses the device reports.
    ///   - isLocal: returns false for the address of a peer in another network.
    /// - Throws: ``MatterDoorFault`` if the port cannot be opened.
    public func start(
        loopbackOnly: Bool, port: UInt16, interfaces: InterfaceFilter,
        isLocal: @escaping @Sendable (IPAddress) -> Bool
    ) async throws(MatterDoorFault) {
        self.isLocal = isLocal
        do {
            let opened = try await DatagramPort.open(on: eventLoop, port: port, loopbackOnly: loopbackOnly) {
                [weak self] datagram in self?.assumeIsolated { $0.received(datagram) }
            }
            guard !isEnding else { return opened.close() }
            self.port = opened
            joinGroups()
        } catch {
            throw MatterDoorFault(
                description: """
                    UDP port \(port) cannot be opened: \(errorText(error))
                    hint: set another port in [matter], or stop the other Matter device on this host
                    """)
        }
        if !isStarted { handle(.started) }
        isStarted = true
        follow(interfaces)
    }

    private func follow(_ interfaces: InterfaceFilter) {
        following?.cancel()
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(interfaces, on: eventLoop) { update(list) }
            } catch {
                // The discovery reports why the kernel does not list the interfaces.
            }
        }
    }

    private func update(_ interfaces: [LinuxInterface]) {
        self.interfaces = Set(interfaces.filter(\.isOperational).map { InterfaceID(bitPattern: $0.index) })
        joinGroups()
        guard let own = interfaces.first(where: { $0.name == interface.name }) else { return }
        let usable = own.addresses.filter(\.isUsable).map(\.bytes)
        guard usable != addresses, !isEnding else { return }
        addresses = usable
        handle(.addresses(usable))
    }

    private func joinGroups() { port?.join(Set(groups.compactMap { IPAddress(bytes: $0) }), on: interfaces) }

    /// The port, or nil before ``start(loopbackOnly:port:interfaces:isLocal:)``.
    public var listeningPort: UInt16? { port?.port }

    /// The services to announce.
    public var announcements: [MatterAnnouncement] { machine.announcements }

    /// Updates the plug's state, which may have changed.
    public func look(_ state: PlugState, name: String, newest: SequenceNumber) {
        handle(.looked(MatterDoorMachine.Glance(state: state, name: name, newest: newest)))
    }

    /// Handles the outcome of a command from this module.
    public func answered(_ ticket: UInt64, _ outcome: CommandOutcome) { handle(.answered(ticket, outcome)) }

    /// Handles the result of ``Plug/keep``.
    public func stored(_ isStored: Bool) {
        handle(.stored(isStored))
        answerManaging(isStored)
    }

    /// Opens the commissioning window, because a person held the plug's button.
    public func openWindow() { handle(.opened(MatterDoorMachine.windowTime)) }

    /// Tells subscribers that the device ends, and closes the port.
    public func stop() {
        if isStarted, !isEnding { handle(.stopping) }
        isEnding = true
        timer.stop()
        following?.cancel()
        port?.close()
        port = nil
    }

    // MARK: Management

    /// Lists or removes fabrics, or opens the commissioning window.
    ///
    /// - Parameter answer: called when flash has stored the change or failed to store it, or at once if nothing
    ///   changes.
    public func manage(_ order: MatterRequest, answer: @escaping @Sendable (Result<MatterReport, Refusal>) -> Void) {
        switch order {
        case .ask: return answer(.success(report))
        case .openWindow(let time):
            handle(.opened(time))
            guard time <= .zero || machine.window.opensUntil != nil else {
                return answer(.failure(Refusal(.busy, "a controller is commissioning the plug; try again later")))
            }
        case .remove(let index):
            guard machine.fabrics.contains(where: { $0.index == index }) else {
                return answer(.failure(Refusal(.outOfRange, "the plug has no fabric with this index")))
            }
            handle(.removed(index))
        case .removeAll: handle(.removed(nil))
        }
        managing.append(answer)
        // If the order changes nothing, nothing is written and the answer is immediate.
        if !machine.isStoring { answerManaging(true) }
    }

    private func answerManaging(_ isStored: Bool) {
        guard !machine.isStoring else { return }
        let waiting = managing
        managing = []
        for answer in waiting {
            answer(
                isStored ? .success(report) : .failure(Refusal(.storageFailed, "the plug's flash could not be written"))
            )
        }
    }

    private var report: MatterReport {
        let (window, now) = (machine.window, BootClock.now)
        return MatterReport(
            setupPayload: label.payload.qrText, manualCode: label.payload.manualCode,
            windowOpenFor: window.opensUntil.map { Duration.seconds(max(.zero, $0 - now).components.seconds) },
            isEnhanced: window.isEnhanced,
            fabrics: machine.fabrics.prefix(PlugWire.matterFabrics).map { fabric in
                MatterReport.Fabric(
                    index: fabric.index, fabricID: fabric.fabricID, nodeID: fabric.nodeID, vendor: fabric.vendor,
                    label: fabric.label, sessions: fabric.sessions)
            })
    }

    /// The status as JSON: the UDP `port`, the numbers of `fabrics` and of their `sessions`, and the remaining time of
    /// the commissioning `window` in seconds while it is open.
    public var status: JSONObject {
        let report = report
        var status = JSONObject()
        if let port { status.add("port", Int(port.port)) }
        status.add("fabrics", report.fabrics.count)
        status.add("sessions", report.fabrics.reduce(0) { $0 + $1.sessions })
        if let time = report.windowOpenFor { status.add("window", Int(time.components.seconds)) }
        return status
    }

    // MARK: Datagrams

    private func received(_ datagram: InboundDatagram) {
        guard !isEnding, isStarted, !datagram.wasMulticast || MatterDoorMachine.isForGroup(datagram.bytes) else {
            return
        }
        let hasScope = datagram.source.family == .v6 && datagram.source.isLinkLocal
        let scope = hasScope ? datagram.interface : 0
        let peer = MatterPeer(address: datagram.source.bytes, scope: scope, port: datagram.sourcePort)
        handle(.received(datagram.bytes, from: peer, isLocal: isLocal(datagram.source)))
    }

    private func send(_ bytes: [UInt8], to peer: MatterPeer) {
        guard let address = IPAddress(bytes: peer.address) else { return }
        port?.send(bytes, to: Peer(address: address, port: peer.port), interface: peer.scope)
    }

    // MARK: The machine

    private func handle(_ event: MatterDoorMachine.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        // The plug receives the commands while no action is being performed. So its answer is sent at once, before the
        // plug's other work for the command, such as writes to flash.
        while !actions.isPerforming, !commands.isEmpty { plug.ask(commands.removeFirst()) }
        guard !isEnding else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: MatterDoorMachine.Action) {
        switch action {
        case .send(let bytes, let peer): send(bytes, to: peer)
        case .store(let records): plug.keep(records.encoded)
        case .ask(let command): commands.append(command)
        case .read(let sequence, let limit): handle(.page(plug.page(sequence, limit)))
        case .announce: plug.announce()
        case .join(let addresses):
            groups = addresses
            joinGroups()
        case .note(let note): plug.note(note)
        case .tell(let notice): tell(notice)
        case .tellDistant(let peer):
            let address = IPAddress(bytes: peer.address).map { "\($0)" } ?? "a peer"
            logger.warning("Matter: \(address) is in another network, so it cannot commission the plug")
        }
    }

    private func tell(_ notice: MatterNotice) {
        switch notice {
        case .windowOpened, .windowClosed, .fabricAdded, .fabricUpdated, .commissioned, .fabricRemoved,
            .accessControlChanged:
            logger.notice("Matter: \(notice)")
        case .wrongPasscode, .failSafeExpired, .notStored, .commandTimedOut: logger.warning("Matter: \(notice)")
        case .handshakeFailed, .failSafeArmed, .sessionEstablished, .subscribed, .subscriptionLost:
            logger.debug("Matter: \(notice)")
        }
    }
}
