public import DNSWire
public import ProtocolCore
public import ServiceDiscovery

/// A service to register in a zone.
public struct ZoneService: Hashable, Sendable {
    /// The service. Its host name must be unique in the zone.
    public let registration: ServiceRegistration
    /// The addresses of its host. Without addresses, nothing is sent.
    public let addresses: [IPAddress]
    /// The port at these addresses.
    public let port: UInt16

    /// Creates a service.
    ///
    /// - Parameter port: the port, if it differs from the registration's because a router maps it.
    public init(_ registration: ServiceRegistration, addresses: [IPAddress], port: UInt16? = nil) {
        self.registration = registration
        self.addresses = addresses
        self.port = port ?? registration.port
    }
}

/// The reasons why a service is not registered.
public enum ZoneFailure: Error, Hashable, Sendable {
    /// The server did not answer within ``ZoneRegistrar/timeout``, or refused or closed the connection.
    case noAnswer
    /// The signature of the response was missing or wrong, or the server rejected that of the request.
    case signature(TransactionKey.Rejection)
    /// The server rejected the update with this RCODE (RFC 2136 §2.2).
    case rejected(code: UInt16)
    /// The name servers report no server that accepts updates of the domain, for this reason.
    case serverUnknown(ResolverError?)
    /// The key cannot be used, so that no message was sent.
    case unusableKey(reason: String, hint: String?)
    /// The name of the service is too long in this zone.
    case nameTooLong
    /// The zone changed again and again between the questions and the updates.
    case unsteady
}

/// Registers one service in a zone by DNS updates (RFC 2136), keeps it registered, and removes it again.
///
/// A name that another host has is changed, with the same numbers as in multicast DNS. The records of this host are
/// recognized by the host name in the SRV record, so that they are replaced after a crash. All updates have a
/// prerequisite, so that two hosts never overwrite each other's records.
///
/// With a registrar of the Service Registration Protocol (RFC 9665), the server compares keys instead: the updates have no
/// prerequisites, and contain the key of the host.
///
/// The owner sends each message over a new connection, signs it, and verifies the response.
public struct ZoneRegistrar: Machine, Sendable {
    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The service to register from now on.
        case publish(ZoneService)
        /// A verified response.
        case replied(ExchangeID, Message)
        /// The message was not answered, or the response was not accepted.
        case failed(ExchangeID, ZoneFailure)
        /// Removes the service. ``Action/stopped`` follows.
        case stop
        /// The time of ``ZoneRegistrar/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends a message to the server, over TCP.
        case send(ExchangeID, [UInt8])
        /// Closes the connection.
        case close(ExchangeID)
        /// The service is registered under this name, for the first time, under a new name or again after a failure.
        case registered(name: String)
        /// The last update failed, and is repeated after this time.
        case failed(ZoneFailure, again: Duration)
        /// The service was removed, or the attempt to do so has failed.
        case stopped
    }

    /// The time to wait for a response.
    public static let timeout = Duration.seconds(5)
    /// The time to wait for a response during a stop.
    private static let stopTimeout = Duration.seconds(2)
    /// The requested lifetime of the records in seconds (RFC 9664).
    public static let lease: UInt32 = 7200
    /// The requested time in seconds for which a registrar keeps the names for the key (RFC 9664 §4.2): 14 days.
    public static let keyLease: UInt32 = 1_209_600
    /// The time after which the registration is renewed, also without a lease, in case the server lost it.
    public static let renewal = Duration.seconds(3600)
    /// The shortest accepted lifetime in seconds. A server with shorter ones would cause needless traffic.
    private static let shortestLease: UInt32 = 120
    /// The pause after the first failure, which doubles after each further one up to `longestPause`.
    private static let firstPause = Duration.seconds(5)
    private static let longestPause = Duration.seconds(900)
    /// The limit of requests in a row without success. It prevents a loop if another program changes the same names.
    private static let stepLimit = 64

    private enum Purpose {
        case create(ZoneRecords)
        /// Asks which host has the name.
        case ask(ZoneRecords)
        case replace(ZoneRecords)
        case remove
    }

    private let zone: Name
    private let claimKey: [UInt8]?
    private var random: any RandomNumberGenerator & Sendable
    private var wanted: ZoneService?
    private var naming = Renaming("")
    /// The records that the server has confirmed.
    private var registered: ZoneRecords?
    private var request: (id: ExchangeID, message: UInt16, purpose: Purpose, until: Instant)?
    private var due: Instant?
    private var isStopping = false
    private var failures = 0
    /// True from a failure until the next confirmation.
    private var hasFailed = false
    private var steps = 0
    private var nextExchange: UInt64 = 0
    private var output: [Action] = []

    /// Creates a machine that does nothing before ``Event/publish(_:)``.
    ///
    /// - Parameters:
    ///   - zone: the domain in which the service is registered; it must be a zone of the server.
    ///   - claimKey: the data of the host's KEY record, for a registrar of RFC 9665; nil for a server of RFC 2136.
    ///   - random: the source of message identifiers and of numbers after conflicts.
    public init(zone: Name, claimKey: [UInt8]? = nil, random: any RandomNumberGenerator & Sendable) {
        self.zone = zone
        self.claimKey = claimKey
        self.random = random
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { request?.until ?? due }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .publish(let service):
            guard service != wanted, !isStopping else { break }
            if service.registration.name != wanted?.registration.name { naming = Renaming(service.registration.name) }
            wanted = service
            proceedSoon()
        case .replied(let id, let message):
            guard let request = takeRequest(id) else { break }
            replied(message, to: request.purpose, matches: message.id == request.message, now: now)
        case .failed(let id, let failure):
            guard takeRequest(id) != nil else { break }
            fail(failure, now: now)
        case .stop:
            isStopping = true
            proceedSoon()
            if let until = request?.until { request?.until = min(until, now + Self.stopTimeout) }
        case .deadlineReached: break
        }
        if let request, request.until <= now {
            _ = takeRequest(request.id)
            fail(.noAnswer, now: now)
        }
        if request == nil, due.map({ $0 <= now }) ?? false {
            proceed(now: now)
        }
        defer { output = [] }
        return output
    }

    /// Starts a new attempt, after the current request if there is one.
    private mutating func proceedSoon() {
        failures = 0
        steps = 0
        due = .zero
    }

    private mutating func takeRequest(_ id: ExchangeID) -> (message: UInt16, purpose: Purpose)? {
        guard let request, request.id == id else { return nil }
        self.request = nil
        output.append(.close(id))
        return (request.message, request.purpose)
    }

    /// Sends the next request, if one is necessary.
    private mutating func proceed(now: Instant) {
        due = nil
        guard !isStopping else {
            if let registered { return remove(registered, now: now) }
            return output.append(.stopped)
        }
        guard steps < Self.stepLimit else { return fail(.unsteady, now: now) }
        steps += 1
        guard let wanted, !wanted.addresses.isEmpty else { return }
        let label = label(of: wanted)
        if let registered, registered.label != label { return remove(registered, now: now) }
        do throws(NameError) {
            let records = try ZoneRecords(wanted, named: label, in: zone)
            if let claimKey {
                claim(records.claims(with: claimKey), for: .create(records), now: now)
            } else if let registered {
                replace(registered.location, with: records, now: now)
            } else {
                update(.isFree(records.instance), records.additions, for: .create(records), now: now)
            }
        } catch {
            fail(.nameTooLong, now: now)
        }
    }

    private func label(of service: ZoneService) -> String {
        let name = service.registration.name
        return naming == Renaming(name) ? name : InstanceName.numbered(naming.base, naming.number)
    }

    private mutating func replace(_ location: Record, with records: ZoneRecords, now: Instant) {
        update(.exists(location), records.additions, for: .replace(records), now: now)
    }

    private mutating func remove(_ records: ZoneRecords, now: Instant) {
        if let claimKey {
            let lease = isStopping ? 0 : Self.lease
            let changes = isStopping ? records.hostRemovals(with: claimKey) : records.claimRemovals(with: claimKey)
            return claim(changes, lease: lease, for: .remove, now: now)
        }
        update(.exists(records.location), records.removals, for: .remove, now: now)
    }

    private mutating func update(
        _ condition: ZoneUpdate.Condition, _ changes: [Record], for purpose: Purpose, now: Instant
    ) {
        let update = ZoneUpdate(
            zone: zone, condition: condition, changes: changes, lease: UpdateLeaseOption(lease: Self.lease))
        send(update.message(id: random.next()), for: purpose, now: now)
    }

    private mutating func claim(_ changes: [Record], lease: UInt32 = Self.lease, for purpose: Purpose, now: Instant) {
        let lease = UpdateLeaseOption(lease: lease, keyLease: Self.keyLease)
        let update = ZoneUpdate(zone: zone, condition: nil, changes: changes, lease: lease)
        send(update.message(id: random.next()), for: purpose, now: now)
    }

    private mutating func send(_ message: Message, for purpose: Purpose, now: Instant) {
        let id = ExchangeID(rawValue: nextExchange)
        nextExchange += 1
        // The largest registration has some kilobytes.
        guard let bytes = try? message.encoded(compression: .unicast) else { return }
        request = (id, message.id, purpose, now + (isStopping ? Self.stopTimeout : Self.timeout))
        output.append(.send(id, bytes))
    }

    private mutating func replied(_ message: Message, to purpose: Purpose, matches: Bool, now: Instant) {
        guard matches, message.flags.contains(.response) else { return fail(.noAnswer, now: now) }
        let code = message.flags.responseCode
        switch (purpose, code) {
        case (.create(let records), Code.noError), (.replace(let records), Code.noError):
            confirmed(records, message, now: now)
        case (.create, Code.nameExists) where claimKey != nil:
            naming.next(&random)
            proceed(now: now)
        case (.create(let records), Code.nameExists):
            let question = Question(name: records.instance, type: .srv)
            send(Message(id: random.next(), questions: [question]), for: .ask(records), now: now)
        case (.ask(let records), Code.noError), (.ask(let records), Code.noName): answered(message, records, now: now)
        case (.replace, Code.noSuchSet), (.replace, Code.noName):
            // Another program removed or replaced the records.
            registered = nil
            proceed(now: now)
        case (.remove, Code.noError), (.remove, Code.noSuchSet), (.remove, Code.noName):
            registered = nil
            proceed(now: now)
        default: fail(.rejected(code: code), now: now)
        }
    }

    /// The name is in use. If the records are those of this host, they are replaced, otherwise the next name is tried.
    private mutating func answered(_ message: Message, _ records: ZoneRecords, now: Instant) {
        let locations = message.answers.filter { $0.name == records.instance && $0.type == .srv }
        let isFree = message.flags.responseCode == Code.noName
        if let location = locations.first, locations.count == 1, case .srv(_, _, _, records.host) = location.data {
            guard steps < Self.stepLimit else { return fail(.unsteady, now: now) }
            steps += 1
            return replace(location, with: records, now: now)
        }
        if !isFree { naming.next(&random) }
        proceed(now: now)
    }

    private mutating func confirmed(_ records: ZoneRecords, _ message: Message, now: Instant) {
        if registered?.instance != records.instance || hasFailed { output.append(.registered(name: records.label)) }
        registered = records
        hasFailed = false
        failures = 0
        steps = 0
        // The service may have changed during the request. The records are then replaced.
        due = records.service == wanted && !isStopping ? now + renewal(message) : now
    }

    /// The time until the renewal: an hour, or 80 % of a shorter lease (RFC 9664 §5.2).
    private func renewal(_ message: Message) -> Duration {
        guard let lease = try? message.optionsRecord()?.updateLease?.lease else { return Self.renewal }
        return min(Self.renewal, .seconds(Int64(max(lease, Self.shortestLease)) * 4 / 5))
    }

    private mutating func fail(_ failure: ZoneFailure, now: Instant) {
        if isStopping {
            registered = nil
            return proceed(now: now)
        }
        let pause = min(Self.firstPause * (1 << min(failures, 8)), Self.longestPause)
        failures += 1
        steps = 0
        due = now + pause
        hasFailed = true
        output.append(.failed(failure, again: pause))
    }

    /// RCODEs (RFC 1035 §4.1.1, RFC 2136 §2.2).
    private enum Code {
        static let noError: UInt16 = 0
        static let noName: UInt16 = 3
        static let nameExists: UInt16 = 6
        static let noSuchSet: UInt16 = 8
    }
}

extension ZoneFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noAnswer: "the name server did not answer"
        case .signature(.unknownKey): "the name server does not know the key"
        case .signature(.wrongSecret): "the name server has a different secret for the key"
        case .signature(.unsigned): "the response of the name server is not signed with the key"
        case .signature(.wrongTime): "the clocks of this host and of the name server differ by more than 5 minutes"
        case .rejected(code: 5): "the name server refused the update"
        case .rejected(code: 9), .rejected(code: 10): "the name server is not responsible for this zone"
        case .rejected(let code): "the name server rejected the update (code \(code))"
        case .serverUnknown(nil): "the domain names no server that accepts registrations"
        case .serverUnknown(let error?): "no server that accepts registrations was found: \(error)"
        case .unusableKey(let reason, _): reason
        case .nameTooLong: "the name of the plug is too long in this domain"
        case .unsteady: "another program changes the same records"
        }
    }

    /// A hint about what the user can do; nil if there is nothing to suggest.
    public var hint: String? {
        switch self {
        case .noAnswer: "check `server` in [wide_area], and that the server accepts TCP connections on its port"
        case .signature(.unknownKey): "check that the name server's configuration has the key of `key_file`"
        case .signature(.wrongSecret): "copy the key of the name server into `key_file` again"
        case .signature(.unsigned): "check that `server` in [wide_area] is the right server"
        case .signature(.wrongTime): "set both clocks by NTP"
        case .rejected(code: 5): "check that the update policy of the zone permits the key to change the zone"
        case .rejected(code: 9), .rejected(code: 10): "check that `domain` in [wide_area] is a zone of the server"
        case .rejected: "see the log of the name server"
        case .serverUnknown: "name the server with `server` in [wide_area]"
        case .unusableKey(_, let hint): hint
        case .nameTooLong: "choose a shorter name or domain"
        case .unsteady: "check that no other program has the same host name in this zone"
        }
    }
}
