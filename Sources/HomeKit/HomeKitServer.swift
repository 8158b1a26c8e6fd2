public import ProtocolCore

/// The accessory side of the HomeKit Accessory Protocol over IP: all sessions, pairings, and latest values.
///
/// The shell delivers bytes and performs actions. ``Action/write(_:_:_:_:)`` passes writes to the accessory, which
/// reports its values with ``Event/changed(_:by:)``. A read is answered immediately with the latest reported value.
public struct HomeKitServer: Machine, Sendable {
    /// An event of a connection, of the accessory or of the storage.
    public enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event.
        case started
        /// A connection was accepted.
        ///
        /// - isLocal: false if the peer is in another network. Such a peer cannot pair.
        case opened(HomeKitSessionID, isLocal: Bool)
        /// The connection received bytes.
        case received(HomeKitSessionID, [UInt8])
        /// The connection has sent all bytes.
        case drained(HomeKitSessionID)
        /// The connection closed.
        case closed(HomeKitSessionID)
        /// The accessory's values changed.
        ///
        /// - by: the session whose write caused the change, or nil if no write caused it. That session gets no event
        ///   about these values.
        case changed([CharacteristicKey: CharacteristicValue], by: HomeKitSessionID?)
        /// A press of a programmable switch (HAP 9.75): 0 single, 1 double, 2 long.
        case pressed(CharacteristicKey, CharacteristicValue)
        /// The answer to ``Action/write(_:_:_:_:)``. A late answer is ignored.
        case answered(HomeKitRequestID, [CharacteristicKey: HomeKitWriteOutcome])
        /// The answer to ``Action/store(_:)``.
        case stored(Bool)
        /// The user removed the controller with this identifier at the accessory, or all controllers (nil).
        case dismissed([UInt8]?)
        case deadlineReached
    }

    /// An action for the shell. Actions are performed in order.
    public enum Action: Hashable, Sendable {
        case send(HomeKitSessionID, [UInt8])
        /// Closes the connection after all bytes are sent. The server has removed the session, so the shell need not
        /// report `closed`.
        case close(HomeKitSessionID)
        /// Asks the accessory to write values.
        ///
        /// - HomeKitSessionID: the session to pass to ``Event/changed(_:by:)`` for resulting changes.
        case write(HomeKitRequestID, HomeKitSessionID, ControllerIdentity, [CharacteristicWriteRequest])
        /// Stores the records in flash before they take effect. Only one store is in progress at a time.
        case store(HomeKitRecords)
        /// A controller asked the device to identify itself to the user.
        case identify
        /// The first controller was paired or the last one was removed, which changes ``HomeKitServer/announcement``.
        case pairingsChanged(isPaired: Bool)
        /// Writes a message to the log.
        case notice(HomeKitNotice)
    }

    /// The constant settings of the accessory server.
    public struct Configuration: Sendable {
        /// The verifier of the setup code.
        public var verifier: SetupVerifier
        /// The setup id that the label's QR code contains.
        public var setupID: HomeKitSetupID
        /// The accessory category, which controllers show as an icon.
        public var category: HomeKitCategory
        /// The model name in the announcement.
        public var model: String

        /// Creates a configuration.
        public init(verifier: SetupVerifier, setupID: HomeKitSetupID, category: HomeKitCategory, model: String) {
            (self.verifier, self.setupID, self.category, self.model) = (verifier, setupID, category, model)
        }
    }

    /// The limit of verified sessions (HAP 6.2 requires at least eight). A further session replaces the longest-silent
    /// session of the same controller. If that controller has none, it replaces the longest-silent session of all.
    public static let verifiedLimit = 8
    /// The limit of unverified connections. It prevents a flood of connections from using up the file descriptors of
    /// the process. Further connections are closed.
    public static let strangerLimit = 8
    /// The accessory's time limit for a write. Controllers do not wait longer for the answer.
    static let writeTime = Duration.seconds(10)

    let configuration: Configuration
    let arithmetic: any ModularArithmetic
    var random: SecretRandomness
    var records: HomeKitRecords
    var table: AccessoryTable
    var sessions: [HomeKitSessionID: HomeKitSession] = [:]
    var gate = PairSetupGate()
    /// The session that performs pair-setup, or nil if no session does so. Only one session may perform it at a time
    /// (HAP 5.6.2).
    var setup: (session: HomeKitSessionID, PairSetup)?
    /// A pair-setup whose M2 was not answered yet; the next session reuses it. The reuse prevents repeated starts from
    /// consuming processor time for arithmetic with large numbers.
    var unusedSetup: PairSetup?
    var changes = RecordChanges()
    private var lastRequest: UInt64 = 0

    /// Creates a server without sessions. Throws if an id is not valid or there are too many characteristics.
    ///
    /// - Parameter seed: at least 32 random bytes from a secure generator, which nothing else may use.
    public init(
        _ configuration: Configuration, records: HomeKitRecords, accessories: [Accessory],
        arithmetic: any ModularArithmetic, seed: [UInt8]
    ) throws(HomeKitError) {
        (self.configuration, self.records, self.arithmetic) = (configuration, records, arithmetic)
        table = try AccessoryTable(accessories)
        random = SecretRandomness(seed: seed)
    }

    /// The announcement for `_hap._tcp`. Its configuration number can change once, when the store that
    /// ``Event/started`` requests has succeeded. Its pairing flag changes with ``Action/pairingsChanged(isPaired:)``.
    public var announcement: HomeKitAnnouncement {
        HomeKitAnnouncement(
            records, model: configuration.model, category: configuration.category, setupID: configuration.setupID)
    }

    /// True if a controller is paired.
    public var isPaired: Bool { !records.pairings.isEmpty }
    /// The paired controllers.
    public var pairings: [ControllerPairing] { records.pairings }
    /// True while an ``Action/store(_:)`` has no answer.
    public var isStoring: Bool { changes.isStoring }

    /// The number of verified sessions per controller identifier.
    public var sessionsOfControllers: [[UInt8]: Int] {
        sessions.values.compactMap(\.controller).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    public var nextDeadline: Instant? { sessions.values.reduce(nil) { sooner($0, $1.deadline) } }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started: begin(.adopt(shape: table.shape), now, &actions)
        case .opened(let id, let isLocal): opened(id, isLocal: isLocal, now, &actions)
        case .received(let id, let bytes): received(id, bytes, now, &actions)
        case .drained(let id):
            sessions[id]?.drained()
            proceed(id, now, &actions)
        case .closed(let id): forget(id)
        case .changed(let values, let session): changed(values, by: session, &actions)
        case .pressed(let key, let value): pressed(key, value, now, &actions)
        case .answered(let request, let outcomes): answered(request, outcomes, now, &actions)
        case .stored(let isStored): stored(isStored, now, &actions)
        case .dismissed(let identifier): begin(.dismiss(identifier), now, &actions)
        case .deadlineReached: deadlineReached(now, &actions)
        }
        tellValues(now, &actions)
        return actions
    }

    // MARK: Sessions

    private mutating func opened(
        _ id: HomeKitSessionID, isLocal: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        guard sessions[id] == nil else { return }
        guard sessions.values.count(where: { !$0.isVerified }) < Self.strangerLimit else {
            actions.append(.send(id, HTTPResponse(.unavailable).encoded))
            actions.append(.close(id))
            actions.append(.notice(.closed(id, .tooManyStrangers(limit: Self.strangerLimit))))
            return
        }
        sessions[id] = HomeKitSession(id, isLocal: isLocal, now: now)
    }

    private mutating func received(_ id: HomeKitSessionID, _ bytes: [UInt8], _ now: Instant, _ actions: inout [Action])
    {
        guard sessions[id] != nil else { return }
        do throws(SessionEnd) {
            try sessions[id]?.receive(bytes)
        } catch {
            return close(id, error, &actions)
        }
        proceed(id, now, &actions)
    }

    /// Answers consecutive requests until one has to wait.
    mutating func proceed(_ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        while mayProceed(id) {
            let request: HTTPRequest?
            do throws(HomeKitError) {
                request = try sessions[id]?.reader.next() ?? nil
            } catch {
                send(HTTPResponse(.badRequest), to: id, now, &actions)
                return close(id, .invalidRequest(error), &actions)
            }
            guard let request else { return }
            sessions[id]?.heardAt = now
            handle(request, of: id, now, &actions)
        }
    }

    // The session is not kept, because a second reference to its buffer would make the reader copy it.
    private func mayProceed(_ id: HomeKitSessionID) -> Bool {
        guard let session = sessions[id] else { return false }
        return session.isIdle && session.hasRoom
    }

    mutating func send(
        _ response: HTTPResponse, to id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) { send(response.encoded, to: id, now, &actions) }

    mutating func send(_ bytes: [UInt8], to id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard sessions[id] != nil else { return }
        guard let sealed = sessions[id]?.sealed(bytes) else { return close(id, .notAuthentic, &actions) }
        sessions[id]?.took(sealed.count, now: now)
        actions.append(.send(id, sealed))
    }

    mutating func close(_ id: HomeKitSessionID, _ end: SessionEnd, _ actions: inout [Action]) {
        guard sessions[id] != nil else { return }
        forget(id)
        actions.append(.close(id))
        actions.append(.notice(.closed(id, end)))
    }

    private mutating func forget(_ id: HomeKitSessionID) {
        sessions[id] = nil
        if setup?.session == id { setup = nil }
    }

    private mutating func deadlineReached(_ now: Instant, _ actions: inout [Action]) {
        for id in sessions.keys.sorted() {
            guard let session = sessions[id] else { continue }
            if let since = session.untakenSince, now >= since + HomeKitSession.patience {
                close(id, .readsNothing, &actions)
            } else if !session.isVerified, session.isIdle, now >= session.strangersDeadline {
                close(id, .notVerifiedInTime, &actions)
            } else if case .writing(let write) = session.work, now >= write.deadline {
                actions.append(.notice(.writeTimedOut(id)))
                let outcomes = write.entries.map { ($0.key, HomeKitWriteOutcome.failed(.timedOut)) }
                answered(write.request, Dictionary(outcomes) { first, _ in first }, now, &actions)
            }
        }
    }

    mutating func nextRequest() -> HomeKitRequestID {
        lastRequest += 1
        return HomeKitRequestID(number: lastRequest)
    }
}

/// The controller that sends a request.
public struct ControllerIdentity: Hashable, Sendable {
    /// The controller's identifier as text.
    public let name: String
    /// True if the controller may add and remove controllers.
    public let isAdmin: Bool
}

/// A write that the accessory must perform.
public struct CharacteristicWriteRequest: Hashable, Sendable {
    /// The characteristic to write.
    public let key: CharacteristicKey
    /// The value in the characteristic's format and within its limits.
    public let value: CharacteristicValue
}
