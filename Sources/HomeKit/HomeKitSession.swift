internal import ProtocolCore

/// Identifies a connection. The shell assigns the number and never reuses it.
public struct HomeKitSessionID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number of the connection.
    public let rawValue: UInt64

    /// Creates an id from a number that was not used before.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public var description: String { "\(rawValue)" }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies a write until it is answered.
public struct HomeKitRequestID: Hashable, Sendable, Comparable {
    let number: UInt64

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// One connection of a controller or an unknown client.
struct HomeKitSession: Sendable {
    enum Security: Sendable {
        case plain
        /// M2 of pair-verify is sent.
        case verifying(PairVerify)
        case verified(controller: [UInt8], SessionCipher)
    }

    /// The work in progress. The next request waits until the current one is answered.
    enum Work: Sendable {
        case none
        case writing(PendingWrite)
        /// Records are being stored or wait to be stored.
        case storing
    }

    /// The limit of unparsed input in bytes. Input accumulates while a request is unanswered.
    static let inputLimit = 32 << 10
    /// The limit of unread output in bytes. At the limit no further request is handled and no event is sent. The unread
    /// output can exceed the limit by one response and one event of all characteristics.
    static let outputLimit = 64 << 10
    /// The time limit for sending all output. A session whose client does not read all pending output in this time is
    /// closed.
    static let patience = Duration.seconds(30)
    /// The time limit for verification. It prevents clients from occupying all sessions, so data from the client does
    /// not extend it. It restarts when a controller has proven the setup code, and when M6 of pair-setup is sent.
    static let strangersTime = Duration.seconds(10)
    /// The time limit of a session while the user types the setup code, between M2 and M3 of pair-setup, counted from
    /// the opening of the connection. A restart of pair-setup does not extend it, because other sessions get "busy"
    /// during that time.
    static let typingTime = Duration.seconds(120)
    /// The minimum interval between two events with values (HAP 6.8).
    static let eventPause = Duration.seconds(1)

    let id: HomeKitSessionID
    /// False if the peer is in another network.
    let isLocal: Bool
    var security = Security.plain
    var work = Work.none
    var reader = HTTPRequestReader()
    /// The time of the last complete request, or of the opening of the connection before the first request.
    var heardAt: Instant
    private let openedAt: Instant
    /// The time at which the session is closed unless it is verified. Work in progress is completed first.
    private(set) var strangersDeadline: Instant
    /// The number of bytes of output that were sent since the client last read all output.
    private(set) var untaken = 0
    /// The time at which the first of the ``untaken`` bytes were sent, or nil if the client has read all output.
    private(set) var untakenSince: Instant?
    var subscriptions: Set<CharacteristicKey> = []
    /// The changed characteristics to send. Each is sent with its value at the time of sending. The number of
    /// characteristics bounds the set.
    var untold: Set<CharacteristicKey> = []
    /// The earliest time of the next event with changed values. Presses do not wait for it.
    var eventsAt = Instant.zero
    /// The id of the last `/prepare` and the time until which a write with this id is accepted. Nil before the first
    /// `/prepare`, and after a write that names an id.
    var preparation: (id: UInt64, until: Instant)?

    init(_ id: HomeKitSessionID, isLocal: Bool, now: Instant) {
        (self.id, self.isLocal, heardAt, openedAt) = (id, isLocal, now, now)
        strangersDeadline = now + Self.strangersTime
    }

    var controller: [UInt8]? {
        guard case .verified(let controller, _) = security else { return nil }
        return controller
    }

    var isVerified: Bool { controller != nil }
    var isIdle: Bool { if case .none = work { true } else { false } }
    var hasRoom: Bool { untaken < Self.outputLimit }

    mutating func beginTyping() { strangersDeadline = max(strangersDeadline, openedAt + Self.typingTime) }

    mutating func allowStranger(now: Instant) { strangersDeadline = now + Self.strangersTime }

    mutating func took(_ count: Int, now: Instant) {
        untaken += count
        if untakenSince == nil { untakenSince = now }
    }

    mutating func drained() { (untaken, untakenSince) = (0, nil) }

    /// The time at which changed values are sent; nil if no value changed, or while too much output is unread.
    var eventDeadline: Instant? { untold.isEmpty || !hasRoom ? nil : eventsAt }

    var deadline: Instant? {
        var deadline = sooner(untakenSince.map { $0 + Self.patience }, eventDeadline)
        if !isVerified, isIdle { deadline = sooner(deadline, strangersDeadline) }
        if case .writing(let write) = work { deadline = sooner(deadline, write.deadline) }
        return deadline
    }

    /// Returns the bytes as the connection transports them, encrypted if it is verified. Returns nil if the encryption
    /// fails.
    mutating func sealed(_ bytes: [UInt8]) -> [UInt8]? {
        guard case .verified(let controller, var cipher) = security else { return bytes }
        let sealed = cipher.seal(bytes)
        security = .verified(controller: controller, cipher)
        return sealed
    }

    /// Appends received bytes to the unparsed input, decrypted if the session is verified.
    ///
    /// - Throws: the reason why the session must end.
    mutating func receive(_ bytes: [UInt8]) throws(SessionEnd) {
        if case .verified(let controller, var cipher) = security {
            do throws(SessionCipher.Fault) {
                reader.append(try cipher.open(bytes))
            } catch {
                throw .notAuthentic
            }
            security = .verified(controller: controller, cipher)
        } else {
            reader.append(bytes)
        }
        guard reader.count <= Self.inputLimit else { throw .tooMuchInput }
    }

    /// Encrypts all further bytes of the session. The received bytes after the last request of pair-verify are already
    /// encrypted.
    mutating func upgrade(_ controller: [UInt8], _ cipher: SessionCipher) throws(SessionEnd) {
        security = .verified(controller: controller, cipher)
        try receive(reader.takeRest())
    }
}

/// A write that waits for the accessory's answer.
struct PendingWrite: Sendable {
    struct Entry: Sendable {
        var key: CharacteristicKey
        var status: HomeKitStatus
        var wantsResponse: Bool
        /// True if the accessory was asked to write this entry.
        var isAsked: Bool
        var value: CharacteristicValue?
    }

    let request: HomeKitRequestID
    let deadline: Instant
    var entries: [Entry]
}

/// The accessory's result of a write.
public enum HomeKitWriteOutcome: Hashable, Sendable {
    case done
    /// The response value of a characteristic with ``CharacteristicPermission/writeResponse``.
    case value(CharacteristicValue)
    case failed(HomeKitStatus)
}

/// The reasons why a session was closed.
public enum SessionEnd: Error, Hashable, Sendable, CustomStringConvertible {
    case tooManyStrangers(limit: Int)
    case notVerifiedInTime
    case invalidRequest(HomeKitError)
    /// A frame was changed, repeated or omitted, or its length exceeds the limit.
    case notAuthentic
    /// The controller sent more requests than can wait for an answer.
    case tooMuchInput
    /// The controller did not read the output in time.
    case readsNothing
    /// The controller's pairing was removed.
    case removed
    /// The limit of verified sessions was reached, and a newer session of any controller replaced this one.
    case displaced

    public var description: String {
        switch self {
        case .tooManyStrangers(let limit): "\(limit) connections are already open without a verified controller"
        case .notVerifiedInTime: "no controller verified the connection in time"
        case .invalidRequest(let fault): "\(fault)"
        case .notAuthentic: "a frame was changed, repeated or left out"
        case .tooMuchInput: "too many requests arrived while one was being executed"
        case .readsNothing: "the controller has not read for \(HomeKitSession.patience)"
        case .removed: "the controller was removed"
        case .displaced:
            "a newer session replaced this one, because at most \(HomeKitServer.verifiedLimit) sessions can be verified"
        }
    }
}

/// A message for the log.
public enum HomeKitNotice: Hashable, Sendable, CustomStringConvertible {
    case closed(HomeKitSessionID, SessionEnd)
    case verified(HomeKitSessionID, controller: String)
    /// The controller is not paired, or has a different key.
    case notVerified(HomeKitSessionID)
    case paired(controller: String)
    case added(controller: String, isAdmin: Bool)
    case removed(controller: String)
    /// A controller sent a wrong setup code. `tries` counts the wrong codes since the firmware started.
    case wrongCode(tries: Int, limit: Int)
    case setupRefused(HomeKitSessionID, PairingError)
    /// A controller in another network tried to pair.
    case distantSetupRefused(HomeKitSessionID)
    /// The records could not be stored, so the change has no effect.
    case notStored
    /// Pair-setup failed because the arithmetic library failed.
    case noArithmetic(HomeKitError)
    /// The accessory reported a value that the characteristic cannot have.
    case impossibleValue(CharacteristicKey)
    /// The accessory did not answer a write in time.
    case writeTimedOut(HomeKitSessionID)

    public var description: String {
        switch self {
        case .closed(let session, let end): "session \(session) is closed: \(end)"
        case .verified(let session, let controller): "session \(session) is verified: controller \(controller)"
        case .notVerified(let session):
            "session \(session) is not verified: no controller with this name and key is paired"
        case .paired(let controller): "controller \(controller) has paired"
        case .added(let controller, let isAdmin):
            "controller \(controller) was added\(isAdmin ? " as an administrator" : "")"
        case .removed(let controller): "controller \(controller) was removed"
        case .wrongCode(let tries, let limit):
            "the setup code was wrong, try \(tries) of \(limit)\(tries < limit ? "" : "; pairing is locked until the firmware restarts")"
        case .setupRefused(let session, let error): "session \(session) may not pair: \(error)"
        case .distantSetupRefused(let session): "session \(session) may not pair: the controller is in another network"
        case .notStored: "the HomeKit records could not be stored, so nothing was changed"
        case .noArithmetic(let fault): "pairing by HomeKit is not possible: \(fault)"
        case .impossibleValue(let key): "characteristic \(key) cannot have the value that the accessory reported"
        case .writeTimedOut(let session): "a write of session \(session) was not answered in time"
        }
    }
}
