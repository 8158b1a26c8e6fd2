public import HomeKit
public import JSONText
import LargeNumbers
import LinuxNetwork
import LinuxSystem
public import Logging
public import NIOCore
public import PlugModel
public import PlugProtocol
public import PlugTransport
import ProtocolCore

/// The shell of ``HomeKitDoorMachine``: connections, the timer, and calls to the plug.
public actor HomeKitDoor: PlainConnectionOwner {
    /// The calls to the plug, made on the event loop.
    public struct Plug: Sendable {
        /// Returns the journal's entries after an event, up to a limit.
        public var page: @Sendable (_ after: SequenceNumber, _ limit: Int) -> JournalPage
        /// Performs a command. Its outcome is passed to ``HomeKitDoor/answered(_:_:)``.
        public var ask: @Sendable (DoorCommand) -> Void
        /// Writes the records to flash. The result is passed to ``HomeKitDoor/stored(_:)``.
        public var keep: @Sendable ([UInt8]) -> Void
        /// Adds an entry to the audit log.
        public var note: @Sendable (AuditNote) -> Void
        /// Publishes the changed ``HomeKitDoor/announcement``.
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

    /// The limits of unverified connections. The machine accepts eight connections and reserves four for addresses of
    /// paired controllers, so that unknown clients cannot use all eight.
    private static let admission: AdmissionLimits = {
        var limits = AdmissionLimits()
        limits.strangers = .init(handshakes: 4, connections: 4, burst: 8, interval: .milliseconds(125))
        limits.stranger = .init(handshakes: 2, connections: 2, burst: 4, interval: .seconds(1))
        limits.pairedAddress = .init(handshakes: 4, connections: 4, burst: 20, interval: .milliseconds(100))
        // HomeKitServer closes the connection of an unpaired peer earlier: after 10 s, or after 120 s while a user may
        // be typing the code.
        limits.pairingTime = .seconds(300)
        return limits
    }()

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// The setup code, setup id and category.
    public nonisolated let label: HomeKitLabel
    private let plug: Plug
    private let logger: Logger
    private var machine: HomeKitDoorMachine
    private let actions = ActionQueue<HomeKitDoorMachine.Action>()
    /// The commands that the plug has not received yet.
    private var commands: [DoorCommand] = []
    private var timer = DeadlineTimer()
    private var listener: PlainListener?
    private var connections: [ConnectionID: PlainConnection] = [:]
    /// The callers that wait until a removal is in flash.
    private var managing: [@Sendable (Result<HomeKitReport, Refusal>) -> Void] = []
    private var isStarted = false
    private var isEnding = false

    /// Creates a HomeKit accessory that does not listen yet.
    ///
    /// - Parameters:
    ///   - records: the records in flash; nil if the plug was never paired by HomeKit.
    ///   - label: setup code and setup id.
    /// - Throws: ``HomeKitDoorFault`` if libgmp is not available or the records are not valid.
    public init(
        _ accessory: PlugAccessory, label: HomeKitLabel, records: [UInt8]?, on eventLoop: any EventLoop,
        logger: Logger, asking plug: Plug
    ) throws(HomeKitDoorFault) {
        self.label = label
        self.plug = plug
        self.logger = logger
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        var random = SystemRandomNumberGenerator()
        do {
            let arithmetic = try GMPArithmetic()
            let verifier = try SetupVerifier(label.code, salt: random.bytes(16), arithmetic)
            let known = try records.map { try HomeKitRecords(decoding: $0) }
            let server = try HomeKitServer(
                HomeKitServer.Configuration(
                    verifier: verifier, setupID: label.setupID, category: accessory.category, model: accessory.model),
                records: known ?? HomeKitRecords(seed: random.bytes(32)), accessories: accessory.accessories,
                arithmetic: arithmetic, seed: random.bytes(32))
            machine = HomeKitDoorMachine(accessory, server, seed: random.next())
        } catch {
            throw HomeKitDoorFault(description: "\(error)")
        }
    }

    /// Returns a port of the dynamic range (RFC 6335 section 6) that is always the same for this plug.
    public static func usualPort(of plug: PlugID) -> UInt16 {
        let digits = plug.rawValue.utf8.reduce(UInt32(0)) { ($0 &* 31) &+ UInt32($1) }
        return 49_152 + UInt16(truncatingIfNeeded: digits % 16_384)
    }

    /// Starts to listen.
    ///
    /// - Parameter isLocal: returns false for the address of a peer in another network.
    /// - Returns: the port.
    public func start(
        loopbackOnly: Bool, port: UInt16, isLocal: @escaping @Sendable (SocketAddress) -> Bool
    ) async throws(ListenError) -> UInt16 {
        if !isStarted { handle(.started) }
        isStarted = true
        let listener = try await PlainListener.start(
            on: eventLoop, loopbackOnly: loopbackOnly, port: port, limits: Self.admission, isLocal: isLocal,
            owner: self)
        self.listener = listener
        return listener.port
    }

    /// The announcement for `_hap._tcp`.
    public var announcement: HomeKitAnnouncement { machine.announcement }

    /// Updates the plug's state, which may have changed.
    public func look(_ state: PlugState, name: String, newest: SequenceNumber) {
        handle(.looked(HomeKitDoorMachine.Glance(state: state, name: name, newest: newest)))
    }

    /// Handles the outcome of a command from this module.
    public func answered(_ ticket: UInt64, _ outcome: CommandOutcome) { handle(.answered(ticket, outcome)) }

    /// Handles the result of ``Plug/keep``.
    public func stored(_ isStored: Bool) {
        handle(.server(.stored(isStored)))
        answerManaging(isStored)
    }

    /// Closes all connections and stops listening.
    public func stop() async {
        isEnding = true
        timer.stop()
        for connection in connections.values { connection.close() }
        await listener?.stop()
    }

    // MARK: Management

    /// Lists or removes paired HomeKit controllers.
    ///
    /// - Parameter answer: called when flash has stored the change or failed to store it, or at once if nothing
    ///   changes.
    public func manage(_ order: HomeKitRequest, answer: @escaping @Sendable (Result<HomeKitReport, Refusal>) -> Void) {
        switch order {
        case .ask: return answer(.success(report))
        case .remove(let identifier):
            guard machine.pairings.contains(where: { $0.identifier == identifier }) else {
                return answer(.failure(Refusal(.outOfRange, "no such controller is paired by HomeKit")))
            }
            managing.append(answer)
            handle(.server(.dismissed(identifier)))
        case .removeAll:
            managing.append(answer)
            handle(.server(.dismissed(nil)))
        }
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

    private var report: HomeKitReport {
        let sessions = machine.sessionsOfControllers
        return HomeKitReport(
            setupCode: label.code.description, setupPayload: label.payload.text,
            deviceID: machine.announcement.deviceID,
            controllers: machine.pairings.map {
                HomeKitReport.Controller(
                    identifier: $0.identifier, isAdmin: $0.isAdmin, sessions: sessions[$0.identifier] ?? 0)
            })
    }

    /// The status as JSON. `paired` and `sessions` count HomeKit controllers and their sessions.
    public var status: JSONObject {
        var status = JSONObject()
        status.add("paired", machine.pairings.count)
        status.add("sessions", machine.sessionsOfControllers.values.reduce(0, +))
        status.add("deviceID", machine.announcement.deviceID)
        return status
    }

    // MARK: Connections

    /// Handles a new connection.
    public func opened(_ connection: PlainConnection) {
        guard !isEnding else { return connection.close() }
        connections[connection.id] = connection
        logger.debug("HomeKit: connected", metadata: ["peer": "\(connection.peer)"])
        handle(
            .server(.opened(HomeKitSessionID(rawValue: connection.id.rawValue), isLocal: connection.isLocal)))
    }

    /// Handles received bytes of a connection.
    public func received(_ bytes: [UInt8], on id: ConnectionID) {
        handle(.server(.received(HomeKitSessionID(rawValue: id.rawValue), bytes)))
    }

    /// Continues to send on a connection whose send buffer is empty again.
    public func drained(_ id: ConnectionID) { handle(.server(.drained(HomeKitSessionID(rawValue: id.rawValue)))) }

    /// Handles the end of a connection.
    public func closed(_ id: ConnectionID) {
        connections[id] = nil
        handle(.server(.closed(HomeKitSessionID(rawValue: id.rawValue))))
    }

    // MARK: The machine

    private func handle(_ event: HomeKitDoorMachine.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        // The plug receives the commands while no action is being performed. So its answer is sent at once, before the
        // plug's other work for the command, such as writes to flash.
        while !actions.isPerforming, !commands.isEmpty { plug.ask(commands.removeFirst()) }
        guard !isEnding else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: HomeKitDoorMachine.Action) {
        switch action {
        case .send(let session, let bytes): connections[ConnectionID(rawValue: session.rawValue)]?.send(bytes)
        case .close(let session): connections[ConnectionID(rawValue: session.rawValue)]?.close()
        case .verified(let session): connections[ConnectionID(rawValue: session.rawValue)]?.markPaired()
        case .store(let records): plug.keep(records.encoded)
        case .ask(let command): commands.append(command)
        case .read(let sequence, let limit): handle(.page(plug.page(sequence, limit)))
        case .announce: plug.announce()
        case .note(let note): plug.note(note)
        case .tell(let notice): tell(notice)
        }
    }

    private func tell(_ notice: HomeKitNotice) {
        switch notice {
        case .paired, .added, .removed: logger.notice("HomeKit: \(notice)")
        case .wrongCode, .distantSetupRefused, .notStored, .noArithmetic, .impossibleValue:
            logger.warning("HomeKit: \(notice)")
        case .closed, .verified, .notVerified, .setupRefused, .writeTimedOut: logger.debug("HomeKit: \(notice)")
        }
    }
}

/// The HomeKit data of the label, as a line in flash: setup code, setup id, category.
public struct HomeKitLabel: Hashable, Sendable {
    /// The setup code that the user enters.
    public let code: HomeKitSetupCode
    /// The setup id in the QR code.
    public let setupID: HomeKitSetupID
    /// The category of the accessory.
    public let category: HomeKitCategory

    /// Creates a label with a random code and setup id.
    public init(_ category: HomeKitCategory) {
        var random = SystemRandomNumberGenerator()
        code = HomeKitSetupCode(using: &random)
        let signs = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let text = String((0..<4).map { _ in signs[Int.random(in: signs.indices, using: &random)] })
        guard let id = HomeKitSetupID(text) else { preconditionFailure("\(text) is not a valid setup id") }
        (setupID, self.category) = (id, category)
    }

    /// Parses a line. Returns nil if it is not valid.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, let code = HomeKitSetupCode(words[0]), let id = HomeKitSetupID(words[1]),
            let category = UInt8(words[2]).map(HomeKitCategory.init(rawValue:))
        else { return nil }
        (self.code, setupID, self.category) = (code, id, category)
    }

    private init(_ code: HomeKitSetupCode, _ id: HomeKitSetupID, _ category: HomeKitCategory) {
        (self.code, setupID, self.category) = (code, id, category)
    }

    /// The line for flash.
    public var line: String { "\(code) \(setupID) \(category.rawValue)" }

    /// Returns the label for a different category.
    public func with(_ category: HomeKitCategory) -> HomeKitLabel { HomeKitLabel(code, setupID, category) }

    /// The payload of the QR code.
    public var payload: HomeKitSetupPayload { HomeKitSetupPayload(code, id: setupID, category: category) }
}

/// The reason why HomeKit cannot start.
public struct HomeKitDoorFault: Error, CustomStringConvertible, Sendable {
    /// The reason as text.
    public let description: String
}

extension RandomNumberGenerator {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
