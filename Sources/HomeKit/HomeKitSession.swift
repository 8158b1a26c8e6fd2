internal import ProtocolCore

/// A connection, by the number that the shell gave it; a number is not used twice.
public struct HomeKitSessionID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public var description: String { "\(rawValue)" }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a write until it is answered.
public struct HomeKitRequestID: Hashable, Sendable, Comparable {
    let number: UInt64

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// One connection of a controller, or of a stranger.
struct HomeKitSession: Sendable {
    enum Security: Sendable {
        case plain
        /// M2 of pair-verify has been sent.
        case verifying(PairVerify)
        case verified(controller: [UInt8], SessionCipher)
    }

    /// The next request waits until this one is answered.
    enum Work: Sendable {
        case none
        case writing(PendingWrite)
        /// Records are being stored, or wait for it.
        case storing
    }

    /// Bytes that wait behind a request that is not answered: stops a controller that sends ever more.
    static let inputLimit = 32 << 10
    /// Bytes that nobody has read. Beyond it no request is looked at and no event is told: so no more than one answer and one event of all
    /// characteristics come on top.
    static let outputLimit = 64 << 10
    /// A controller that reads nothing for so long has gone.
    static let patience = Duration.seconds(30)
    /// A stranger's time to be verified, whatever it asks: stops those who hold all sessions. It begins anew when a controller has shown that it
    /// knows the setup code, and when it has paired.
    static let strangersTime = Duration.seconds(10)
    /// The time of a session in which a person types the setup code, between M2 and M3 of pair-setup. To begin over and over makes it no longer:
    /// others are busy for as long.
    static let typingTime = Duration.seconds(120)
    /// Between two events with values (HAP 6.8).
    static let eventPause = Duration.seconds(1)

    let id: HomeKitSessionID
    var security = Security.plain
    var work = Work.none
    var reader = HTTPRequestReader()
    /// When the last complete request came, or the connection.
    var heardAt: Instant
    private let openedAt: Instant
    /// When it is closed, unless it is verified before.
    private(set) var strangersDeadline: Instant
    private(set) var untaken = 0
    private(set) var untakenSince: Instant?
    var subscriptions: Set<CharacteristicKey> = []
    /// Have changed and are to be told, each with the value that it has then: bounded by the number of characteristics.
    var untold: Set<CharacteristicKey> = []
    /// No values are told before.
    var eventsAt = Instant.zero
    var preparation: (id: UInt64, until: Instant)?

    init(_ id: HomeKitSessionID, now: Instant) {
        (self.id, heardAt, openedAt) = (id, now, now)
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

    /// When values that have changed are told; nil where there are none, or nobody reads.
    var eventDeadline: Instant? { untold.isEmpty || !hasRoom ? nil : eventsAt }

    var deadline: Instant? {
        var deadline = sooner(untakenSince.map { $0 + Self.patience }, eventDeadline)
        if !isVerified, isIdle { deadline = sooner(deadline, strangersDeadline) }
        if case .writing(let write) = work { deadline = sooner(deadline, write.deadline) }
        return deadline
    }

    /// What the connection carries, as bytes to send.
    mutating func sealed(_ bytes: [UInt8]) -> [UInt8]? {
        guard case .verified(let controller, var cipher) = security else { return bytes }
        let sealed = cipher.seal(bytes)
        security = .verified(controller: controller, cipher)
        return sealed
    }

    /// - Throws: why the session cannot go on.
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

    /// From now on all is encrypted, also what came behind the request that verified it.
    mutating func upgrade(_ controller: [UInt8], _ cipher: SessionCipher) throws(SessionEnd) {
        security = .verified(controller: controller, cipher)
        try receive(reader.takeRest())
    }
}

/// A write that the accessory has been asked for.
struct PendingWrite: Sendable {
    struct Entry: Sendable {
        var key: CharacteristicKey
        var status: HomeKitStatus
        var wantsResponse: Bool
        /// The accessory was asked.
        var isAsked: Bool
        var value: CharacteristicValue?
    }

    let request: HomeKitRequestID
    let deadline: Instant
    var entries: [Entry]
}

/// How the accessory carried a write out.
public enum HomeKitWriteOutcome: Hashable, Sendable {
    case done
    /// Of a characteristic with ``CharacteristicPermission/writeResponse``.
    case value(CharacteristicValue)
    case failed(HomeKitStatus)
}

/// Why a session was closed.
public enum SessionEnd: Error, Hashable, Sendable, CustomStringConvertible {
    case tooManyStrangers(limit: Int)
    case notVerifiedInTime
    case invalidRequest(HTTPFault)
    case notAuthentic
    case tooMuchInput
    case readsNothing
    case removed
    case displaced

    public var description: String {
        switch self {
        case .tooManyStrangers(let limit): "there are \(limit) connections already that no controller has verified"
        case .notVerifiedInTime: "no controller verified the connection in time"
        case .invalidRequest(let fault): "\(fault)"
        case .notAuthentic: "a frame was changed, repeated or left out"
        case .tooMuchInput: "more requests came than can wait for the one that is carried out"
        case .readsNothing: "the controller has read nothing for \(HomeKitSession.patience)"
        case .removed: "the controller was removed"
        case .displaced:
            "the same controller, or another after \(HomeKitServer.verifiedLimit), has opened a newer session"
        }
    }
}

/// Something for the log, in words.
public enum HomeKitNotice: Hashable, Sendable, CustomStringConvertible {
    case closed(HomeKitSessionID, SessionEnd)
    case verified(HomeKitSessionID, controller: String)
    /// A controller that is not paired, or has another key.
    case notVerified(HomeKitSessionID)
    case paired(controller: String)
    case added(controller: String, isAdmin: Bool)
    case removed(controller: String)
    case wrongCode(tries: Int, limit: Int)
    case setupRefused(HomeKitSessionID, PairingError)
    /// The change has not happened.
    case notStored
    case noArithmetic(ArithmeticFault)
    /// The accessory told a value that the characteristic cannot have.
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
            "the setup code was wrong, try \(tries) of \(limit)\(tries < limit ? "" : "; nobody can pair before the next start")"
        case .setupRefused(let session, let error): "session \(session) may not pair: \(error)"
        case .notStored: "the HomeKit records could not be stored, so nothing was changed"
        case .noArithmetic(let fault): "pairing by HomeKit is not possible: \(fault)"
        case .impossibleValue(let key): "characteristic \(key) cannot have the value that the accessory told"
        case .writeTimedOut(let session): "a write of session \(session) was not answered in time"
        }
    }
}
