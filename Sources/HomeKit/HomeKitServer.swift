public import ProtocolCore

/// The accessory's side of the HomeKit Accessory Protocol over IP: all its sessions, who is paired, and the values that were told last.
///
/// The shell brings bytes and performs actions; the accessory is asked by ``Action/write(_:_:_:_:)`` and tells its values by
/// ``Event/changed(_:by:)``. A read is answered at once with the value that was told last.
public struct HomeKitServer: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// First of all events.
        case started
        case opened(HomeKitSessionID)
        case received(HomeKitSessionID, [UInt8])
        /// All that was sent has been taken by the connection.
        case drained(HomeKitSessionID)
        case closed(HomeKitSessionID)
        /// - by: the session whose write did it, which is not told.
        case changed([CharacteristicKey: CharacteristicValue], by: HomeKitSessionID?)
        /// Of a programmable switch (HAP 9.75): 0 single, 1 double, 2 long.
        case pressed(CharacteristicKey, CharacteristicValue)
        /// The answer to ``Action/write(_:_:_:_:)``. One that comes late is passed over.
        case answered(HomeKitRequestID, [CharacteristicKey: HomeKitWriteOutcome])
        /// The answer to ``Action/store(_:)``.
        case stored(Bool)
        /// Somebody at the accessory removes the controller of this identifier; nil: all.
        case dismissed([UInt8]?)
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        case send(HomeKitSessionID, [UInt8])
        /// When all that was sent before is on its way. The session is forgotten: no `closed` is needed.
        case close(HomeKitSessionID)
        /// - HomeKitSessionID: what comes of it is told with ``Event/changed(_:by:)`` of this session.
        case write(HomeKitRequestID, HomeKitSessionID, ControllerIdentity, [CharacteristicWriteRequest])
        /// What has to be in flash before anything comes of it. One at a time.
        case store(HomeKitRecords)
        /// Somebody wants to see which device it is.
        case identify
        /// ``HomeKitServer/announcement`` is another one.
        case pairingsChanged(isPaired: Bool)
        case notice(HomeKitNotice)
    }

    public struct Configuration: Sendable {
        public var verifier: SetupVerifier
        public var setupID: HomeKitSetupID
        public var category: HomeKitCategory
        public var model: String

        public init(verifier: SetupVerifier, setupID: HomeKitSetupID, category: HomeKitCategory, model: String) {
            (self.verifier, self.setupID, self.category, self.model) = (verifier, setupID, category, model)
        }
    }

    /// Sessions of controllers (HAP 6.2 has at least eight). A ninth takes the place of the one that has been silent for longest.
    public static let verifiedLimit = 8
    /// Connections of anybody: stops a flood from taking all descriptors. One more is closed.
    public static let strangerLimit = 8
    /// The accessory's time for a write; controllers give up after it.
    static let writeTime = Duration.seconds(10)

    let configuration: Configuration
    let arithmetic: any ModularArithmetic
    var random: SecretRandomness
    var records: HomeKitRecords
    var table: AccessoryTable
    var sessions: [HomeKitSessionID: HomeKitSession] = [:]
    var gate = PairSetupGate()
    /// One session sets up at a time (HAP 5.6.2).
    var setup: (session: HomeKitSessionID, PairSetup)?
    /// One that nobody has answered serves the next: stops a stranger who begins over and over from taking the processor for large numbers.
    var unusedSetup: PairSetup?
    var changes = RecordChanges()
    private var lastRequest: UInt64 = 0

    /// - Parameter seed: 32 random bytes that are fit for secrets, drawn for this value.
    public init(
        _ configuration: Configuration, records: HomeKitRecords, accessories: [Accessory],
        arithmetic: any ModularArithmetic, seed: [UInt8]
    ) throws(AccessoryMistake) {
        (self.configuration, self.records, self.arithmetic) = (configuration, records, arithmetic)
        table = try AccessoryTable(accessories)
        random = SecretRandomness(seed: seed)
    }

    /// For `_hap._tcp`; another one after ``Event/started`` and ``Action/pairingsChanged(isPaired:)``.
    public var announcement: HomeKitAnnouncement {
        HomeKitAnnouncement(
            records, model: configuration.model, category: configuration.category, setupID: configuration.setupID)
    }

    public var isPaired: Bool { !records.pairings.isEmpty }
    public var pairings: [ControllerPairing] { records.pairings }
    /// An ``Action/store(_:)`` is not answered yet.
    public var isStoring: Bool { changes.isStoring }

    /// How many verified sessions a controller has, by its identifier.
    public var sessionsOfControllers: [[UInt8]: Int] {
        sessions.values.compactMap(\.controller).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    public var nextDeadline: Instant? { sessions.values.reduce(nil) { sooner($0, $1.deadline) } }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started: begin(.adopt(shape: table.shape), now, &actions)
        case .opened(let id): opened(id, now, &actions)
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

    private mutating func opened(_ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard sessions[id] == nil else { return }
        guard sessions.values.count(where: { !$0.isVerified }) < Self.strangerLimit else {
            actions.append(.send(id, HTTPResponse(.unavailable).encoded))
            actions.append(.close(id))
            actions.append(.notice(.closed(id, .tooManyStrangers(limit: Self.strangerLimit))))
            return
        }
        sessions[id] = HomeKitSession(id, now: now)
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

    /// Answers requests, one after the other, until one has to wait.
    mutating func proceed(_ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        while let session = sessions[id], session.isIdle, session.hasRoom {
            let request: HTTPRequest?
            do throws(HTTPFault) {
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

/// Who asks.
public struct ControllerIdentity: Hashable, Sendable {
    public let name: String
    public let isAdmin: Bool
}

public struct CharacteristicWriteRequest: Hashable, Sendable {
    public let key: CharacteristicKey
    /// In the characteristic's format and within its limits.
    public let value: CharacteristicValue
}
