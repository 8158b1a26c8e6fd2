@testable import Matter
@testable import MatterSessions
import MatterWire
import ProtocolCore

/// A node with two endpoints whose values are in a dictionary.
///
/// Endpoint 0 has cluster 0x100 with an administrator's list and a large list. Endpoints 0 and 1 have cluster 0x200
/// with a switch.
struct FakeNode: InteractionNode {
    static let lists: UInt32 = 0x100
    static let outlet: UInt32 = 0x200
    /// Attributes of ``lists``.
    static let entries = ConcretePath(0, lists, 0)
    static let large = ConcretePath(0, lists, 1)
    static let secret = ConcretePath(0, lists, 2)
    /// Attributes of ``outlet`` on endpoint 1.
    static let isOn = ConcretePath(1, outlet, 0)
    static let level = ConcretePath(1, outlet, 1)
    static let guarded = ConcretePath(1, outlet, 2)
    static let noisy = ConcretePath(1, outlet, 3)
    /// Commands of ``outlet``.
    static let turnOn = ConcretePath(1, outlet, 0)
    static let ask = ConcretePath(1, outlet, 1)
    static let guardedCommand = ConcretePath(1, outlet, 2)
    static let fabricCommand = ConcretePath(1, outlet, 3)
    static let echo = ConcretePath(1, outlet, 4)
    /// The event of ``outlet``.
    static let press = ConcretePath(1, outlet, 7)

    var values: [ConcretePath: TLVValue] = [
        entries: .array([.unsigned(1), .unsigned(2)]), large: .array([]), secret: .unsigned(42),
        isOn: .boolean(false), level: .unsigned(10), guarded: .unsigned(0), noisy: .unsigned(0),
        ConcretePath(0, outlet, 0): .boolean(false), ConcretePath(0, outlet, 1): .unsigned(0),
        ConcretePath(0, outlet, 2): .unsigned(0), ConcretePath(0, outlet, 3): .unsigned(0),
    ]
    var versions: [ClusterPath: UInt32] = [:]
    var changes: Set<ConcretePath> = []
    var log: [NodeEvent] = []
    /// The privileges of nodes by their id; 1 is an administrator.
    var granted: [UInt64: Privilege] = [1: .administer, 2: .operate, 3: .view]
    /// The privilege of node 1 ends with the entries.
    var entriesGrantAccess = false
    var invoked: [ConcretePath] = []

    let endpoints: [UInt16] = [0, 1]

    func endpoints(in group: GroupSender) -> [UInt16] { endpoints }

    func clusters(on endpoint: UInt16) -> [UInt32] { endpoint == 0 ? [Self.lists, Self.outlet] : [Self.outlet] }

    func definition(of cluster: UInt32, on endpoint: UInt16) -> ClusterDefinition? {
        guard clusters(on: endpoint).contains(cluster) else { return nil }
        guard cluster == Self.outlet else {
            return ClusterDefinition(
                id: cluster, name: "Lists", revision: 1,
                attributes: [
                    AttributeDefinition(
                        id: 0, name: "Entries", write: .administer, isList: true, isFabricScoped: true),
                    AttributeDefinition(id: 1, name: "Large", isList: true),
                    AttributeDefinition(id: 2, name: "Secret", read: .administer),
                ])
        }
        return ClusterDefinition(
            id: cluster, name: "Outlet", revision: 1,
            attributes: [
                AttributeDefinition(id: 0, name: "IsOn"), AttributeDefinition(id: 1, name: "Level", write: .operate),
                AttributeDefinition(id: 2, name: "Guarded", write: .operate, needsTimed: true),
                AttributeDefinition(id: 3, name: "Noisy", changesOmitted: true),
            ],
            commands: [
                CommandDefinition(id: 0, name: "TurnOn"), CommandDefinition(id: 1, name: "Ask"),
                CommandDefinition(id: 2, name: "Guarded", needsTimed: true),
                CommandDefinition(id: 3, name: "Scoped", isFabricScoped: true),
                CommandDefinition(id: 4, name: "Echo", response: 5),
            ],
            events: [EventDefinition(id: 7, name: "Press"), EventDefinition(id: 8, name: "Admin", read: .administer)])
    }

    func dataVersion(of cluster: UInt32, on endpoint: UInt16) -> UInt32 {
        versions[ClusterPath(endpoint, cluster), default: 100]
    }

    func read(
        _ path: ConcretePath, for accessor: Accessor, isFabricFiltered: Bool, now: Instant
    ) throws(InteractionStatus) -> TLVValue {
        guard let value = values[path] else { throw InteractionStatus(.unsupportedRead) }
        return value
    }

    mutating func write(
        _ path: ConcretePath, _ value: TLVValue, appends: Bool, for accessor: Accessor, now: Instant
    ) throws(InteractionStatus) {
        if path == Self.level, value.asUnsigned ?? 255 > 254 { throw InteractionStatus(.constraintError) }
        set(path, appends ? .array((values[path]?.elements ?? []) + [value]) : value)
    }

    mutating func set(_ path: ConcretePath, _ value: TLVValue) {
        values[path] = value
        versions[ClusterPath(path)] = dataVersion(of: path.cluster, on: path.endpoint) &+ 1
        changes.insert(path)
    }

    mutating func emit(_ number: UInt64, _ path: ConcretePath = FakeNode.press, fabric: UInt8? = nil) {
        log.append(
            NodeEvent(
                path: path, number: number, priority: 1, time: .seconds(5), value: .fields((0, .unsigned(number))),
                fabric: fabric))
    }

    mutating func invoke(
        _ path: ConcretePath, _ fields: TLVValue, for accessor: Accessor, now: Instant
    ) -> CommandReply {
        invoked.append(path)
        if path == Self.ask { return .pending(UInt64(invoked.count)) }
        if path == Self.echo { return .response(5, fields) }
        set(FakeNode.isOn, .boolean(true))
        return .status(.success)
    }

    func privileges(of accessor: Accessor, on endpoint: UInt16, cluster: UInt32) -> Privilege? {
        guard case .operational(let peer) = accessor.kind else { return .administer }
        if entriesGrantAccess, values[Self.entries]?.elements?.isEmpty ?? true { return nil }
        return granted[peer.node]
    }

    func events(after number: UInt64?) -> [NodeEvent] { log.filter { $0.number > number ?? 0 } }

    mutating func takeChanges() -> Set<ConcretePath> {
        defer { changes = [] }
        return changes
    }
}

extension Accessor {
    /// The kind of the accessor's session, or nil for a group.
    var sessionKind: SessionKind? {
        switch kind {
        case .commissioning: .commissioning
        case .operational(let peer): .operational(peer)
        case .group: nil
        }
    }
}

/// Opens numbered exchanges.
struct FakeOpener: ExchangeOpener {
    var next: UInt64 = 1000
    var isExhausted = false

    mutating func openExchange(on session: SessionID) -> ExchangeID? {
        guard !isExhausted else { return nil }
        next += 1
        return ExchangeID(rawValue: next)
    }
}

/// A server with its clock, and the messages that it sent.
struct ServerFixture {
    struct Sent {
        var message: InteractionMessage
        var exchange: ExchangeID
        var isLast: Bool
    }

    var server: InteractionServer<FakeNode>
    var opener = FakeOpener()
    var now = Instant.zero + .seconds(100)
    var closed: [ExchangeID] = []
    var notices: [MatterNotice] = []
    private var lastExchange: UInt64 = 0

    init(_ node: FakeNode = FakeNode(), commandLimit: Int = 1, messageLimit: Int = MessageLayer.payloadLimit) {
        server = InteractionServer(node, seed: 1, commandLimit: commandLimit, messageLimit: messageLimit)
    }

    /// Returns the accessor of a node of fabric 1, or of the fabric given.
    static func node(_ id: UInt64, fabric: UInt8 = 1) -> Accessor {
        Accessor(
            kind: .operational(OperationalPeer(fabric: fabric, node: id, tags: [])),
            session: .secure(UInt16(id) &+ UInt16(fabric) << 8))
    }

    static let admin = node(1)
    static let commissioner = Accessor(kind: .commissioning, session: .secure(9))

    /// Sends a message on a new exchange, or on the given one, and returns the answers.
    mutating func send(
        _ message: InteractionMessage, as accessor: Accessor = admin, on exchange: ExchangeID? = nil
    ) -> [Sent] {
        sendRaw(message.opcode, message.encoded, as: accessor, on: exchange)
    }

    mutating func sendRaw(
        _ opcode: UInt8, _ payload: [UInt8], as accessor: Accessor = admin, on exchange: ExchangeID? = nil
    ) -> [Sent] {
        lastExchange += 1
        let id = exchange ?? ExchangeID(rawValue: lastExchange)
        let context = SessionContext(
            id: accessor.session ?? .unsecured(0), kind: accessor.sessionKind,
            peer: MatterPeer(address: [10, 0, 0, 1], port: 5540),
            attestationChallenge: [])
        server.receive(
            IncomingMessage(
                exchange: id, session: context, protocolID: MatterProtocol.interactionModel, opcode: opcode,
                payload: payload, isFirst: exchange == nil), from: accessor, now: now)
        return outputs()
    }

    /// Lets time pass in steps to each deadline, and returns the messages that the server sent.
    mutating func wait(_ duration: Duration = .zero) -> [Sent] {
        var sent = outputs()
        let end = now + duration
        while let deadline = server.nextDeadline, deadline <= end {
            now = max(now, deadline)
            server.expire(now: now)
            let more = outputs()
            sent += more
            if more.isEmpty, let next = server.nextDeadline, next <= now { break }
        }
        now = end
        return sent
    }

    mutating func outputs() -> [Sent] {
        server.update(now: now, opening: &opener)
        return server.takeOutputs().compactMap { output in
            switch output {
            case .send(let message, let exchange, let isLast):
                return Sent(message: message, exchange: exchange, isLast: isLast)
            case .close(let exchange): closed.append(exchange)
            case .notice(let notice): notices.append(notice)
            }
            return nil
        }
    }

    /// Sends a request and confirms all chunks of the report. Returns the reports and the message after them.
    mutating func reports(
        _ message: InteractionMessage, as accessor: Accessor = admin
    ) -> (reports: [ReportData], last: InteractionMessage?) {
        confirm(send(message, as: accessor), as: accessor)
    }

    mutating func confirm(
        _ first: [Sent], as accessor: Accessor = admin
    ) -> (reports: [ReportData], last: InteractionMessage?) {
        var reports: [ReportData] = []
        var sent = first
        while let next = sent.first {
            guard case .report(let report) = next.message else { return (reports, next.message) }
            reports.append(report)
            guard !report.suppressesResponse else { return (reports, nil) }
            sent = send(.status(.success), as: accessor, on: next.exchange)
        }
        return (reports, nil)
    }

    /// Subscribes and returns the id of the subscription.
    mutating func subscribe(
        _ request: SubscribeRequest, as accessor: Accessor = admin
    ) -> UInt32? {
        guard case .subscribed(let id, _)? = reports(.subscribe(request), as: accessor).last else { return nil }
        return id
    }
}

extension [ServerFixture.Sent] {
    /// The status of the only message, or nil.
    var status: InteractionStatusCode? {
        guard count == 1, case .status(let code) = self[0].message else { return nil }
        return code
    }

    /// The codes of the only message, a write response.
    var written: [InteractionStatusCode]? {
        guard count == 1, case .written(let statuses) = self[0].message else { return nil }
        return statuses.map(\.status.code)
    }

    /// The codes of the only message, an invoke response. A response command counts as success.
    var invoked: [InteractionStatusCode]? {
        guard count == 1, case .invoked(let response) = self[0].message else { return nil }
        return response.responses.map { reply in
            switch reply {
            case .command: .success
            case .status(_, let status, reference: _): status.code
            }
        }
    }

    /// The report of the only message.
    var report: ReportData? {
        guard count == 1, case .report(let report) = self[0].message else { return nil }
        return report
    }
}

extension ReportData {
    /// The codes of all statuses of attributes and events.
    var codes: [InteractionStatusCode] {
        attributes.compactMap { if case .status(_, let status) = $0 { status.code } else { nil } }
            + events.compactMap { if case .status(_, let status) = $0 { status.code } else { nil } }
    }

    var data: [AttributeData] { attributes.compactMap { if case .data(let data) = $0 { data } else { nil } } }
    var eventNumbers: [UInt64] { events.compactMap { if case .data(let data) = $0 { data.number } else { nil } } }
}

extension AttributePath {
    init(_ endpoint: UInt16?, _ cluster: UInt32?, _ attribute: UInt32?) {
        self.init(endpoint: endpoint, cluster: cluster, attribute: attribute)
    }
}
