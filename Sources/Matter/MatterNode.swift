import MatterSessions
import MatterWire
import ProtocolCore

/// The node: endpoints with clusters, and the state of commissioning. It performs no action itself; the device takes
/// its effects with ``takeEffects()`` after each call.
struct MatterNode: InteractionNode {
    /// The limit of secrets of sessions that can be resumed: 3 per fabric. It bounds the memory.
    static let resumptionLimit = 3 * MatterRecords.fabricLimit

    /// A cluster on an endpoint.
    private struct Place {
        let endpoint: UInt16
        let cluster: UInt32
        var server: any ClusterServer
    }

    private var state: NodeState
    /// The clusters by endpoint and id.
    private var places: [Place]
    private var isStarted = false

    /// Creates a node.
    ///
    /// - Parameter seed: at least ``MatterRandomness/seedLength`` random bytes, which nothing else may use.
    init(_ configuration: MatterDevice.Configuration, records: MatterRecords, seed: [UInt8]) {
        state = NodeState(configuration, records: records, seed: seed)
        places = state.model.endpoints.flatMap { endpoint in
            endpoint.clusters.map { cluster in
                Place(
                    endpoint: endpoint.number, cluster: cluster.id.rawValue,
                    server: cluster.id.server(on: endpoint.number))
            }
        }
    }

    // MARK: Events

    /// Handles the plug's present values.
    mutating func look(_ values: PlugValues, now: Instant) {
        start(now)
        let old = state.values
        guard values != old else { return }
        state.values = values
        forEachServer { server, state in server.valuesChanged(from: old, to: values, now: now, &state) }
    }

    /// Handles a press of the button.
    ///
    /// - Parameter number: the number of the press in the plug's journal. A number that was reported is ignored.
    mutating func press(_ press: MatterPress, number: UInt64, now: Instant) {
        start(now)
        SwitchServer.record(press, number: number, now: now, &state)
    }

    /// Handles the plug's name, which may be unchanged.
    mutating func rename(_ name: String) { state.rename(name) }

    /// Handles the addresses of the network interface, 4 or 16 bytes each.
    mutating func update(addresses: [[UInt8]]) {
        guard addresses != state.addresses else { return }
        state.addresses = addresses
        state.changed(GeneralDiagnostics.Attribute.networkInterfaces, of: .generalDiagnostics)
    }

    /// Handles the plug's answer to a command, and returns the reply to the controller.
    mutating func answered(_ ticket: UInt64, _ code: InteractionStatusCode) -> CommandReply {
        state.effects.answered(ticket, code)
    }

    /// Opens the commissioning window with the passcode of the label; zero closes it.
    mutating func openWindow(_ length: Duration, now: Instant) {
        start(now)
        if length > .zero { state.openWindow(length, now: now) } else { state.closeWindow() }
    }

    /// Closes the commissioning window.
    mutating func closeWindow() { state.closeWindow() }

    /// Removes a fabric, or all fabrics (nil), on behalf of the owner.
    mutating func removeFabric(_ index: UInt8?) {
        let removed = index.map { [$0] } ?? state.records.fabrics.map(\.index)
        for fabric in removed { state.removeFabric(fabric, now: lastTime) }
    }

    /// Handles a new session. A PASE session occupies the window and arms the fail-safe (Matter 5.5).
    mutating func sessionEstablished(_ kind: SessionKind) {
        switch kind {
        case .commissioning:
            state.window.occupy()
            if !state.failSafe.isArmed {
                state.armFailSafe(FailSafe.usualLength, fabric: nil, isForCommissioning: true, now: lastTime)
            }
            state.effects.add(.announce)
        case .operational(let peer): state.failSafe.sessionEstablished(fabric: peer.fabric)
        }
    }

    /// Handles the end of a session. The end of a PASE session expires its fail-safe, unless the commissioner already
    /// uses an operational session of the new fabric.
    mutating func sessionEnded(_ context: SessionContext) {
        guard context.kind == .commissioning else { return }
        let failSafe = state.failSafe
        if failSafe.isArmed, failSafe.isForCommissioning, !failSafe.hasOperationalSession {
            state.expireFailSafe(now: lastTime)
        }
        state.window.release()
        state.effects.add(.announce)
    }

    /// Performs what is due: fail-safe, window, countdowns.
    mutating func expire(now: Instant) {
        start(now)
        if let deadline = state.failSafe.deadline, deadline <= now { state.expireFailSafe(now: now) }
        if let opening = state.window.opening, opening.until <= now { state.closeWindow() }
        forEachServer { server, state in server.expire(now: now, &state) }
    }

    /// The time of the next call of ``expire(now:)``.
    var nextDeadline: Instant? {
        guard isStarted else { return .zero }
        let own = sooner(state.failSafe.deadline, state.window.opening?.until)
        return places.reduce(own) { sooner($0, $1.server.nextDeadline(state)) }
    }

    /// Records the event ShutDown. The device calls it before the process ends.
    mutating func shutDown(now: Instant) {
        start(now)
        state.record(BasicInformation.Event.shutDown, of: .basicInformation, .fields(), now: now)
    }

    /// Stores the secret with which a session can be resumed.
    mutating func remember(_ resumption: ResumptionRecord) {
        state.resumptions.removeAll { $0.id == resumption.id }
        state.resumptions.append(resumption)
        if state.resumptions.count > Self.resumptionLimit { state.resumptions.removeFirst() }
    }

    /// Returns the effects since the previous call, in order.
    mutating func takeEffects() -> [NodeEffect] { state.effects.take(state.records.undoing(state.failSafe)) }

    // MARK: State

    /// The verifier of the open commissioning window, or nil if no PASE session can be opened.
    var paseVerifier: SpakeVerifier? { state.window.verifier }

    /// The state of the commissioning window.
    var window: (opensUntil: Instant?, isEnhanced: Bool) {
        guard let opening = state.window.opening else { return (nil, false) }
        return (opening.until, opening.isEnhanced)
    }

    /// The fabrics with their credentials for CASE.
    var fabrics: [CASEFabric] { state.records.fabrics.compactMap { try? $0.caseFabric() } }

    /// The fabrics for status displays.
    var summaries: [MatterFabricSummary] { state.records.fabrics.map(\.summary) }

    /// The keys of the groups that endpoints of this node belong to.
    var groupKeys: [GroupKey] { state.records.fabrics.flatMap(\.operationalGroupKeys) }

    /// The multicast addresses of these groups, 16 bytes each.
    var groupAddresses: Set<[UInt8]> {
        Set(
            state.records.fabrics.flatMap { fabric in
                fabric.groups.map {
                    FabricIdentity.multicastAddress(group: $0.group, fabricID: fabric.credentials.fabricID)
                }
            })
    }

    /// The secrets of sessions that can be resumed.
    var resumptions: [ResumptionRecord] { state.resumptions }

    /// The DNS-SD services of the node.
    var announcements: [MatterAnnouncement] { state.announcements }

    // MARK: Interactions

    var endpoints: [UInt16] { state.model.endpoints.map(\.number) }

    func endpoints(in group: GroupSender) -> [UInt16] {
        state.records.fabric(group.fabric)?.groups.first { $0.group == group.group }?.endpoints ?? []
    }

    func clusters(on endpoint: UInt16) -> [UInt32] { state.model[endpoint]?.clusters.map(\.id.rawValue) ?? [] }

    func definition(of cluster: UInt32, on endpoint: UInt16) -> ClusterDefinition? {
        state.model[endpoint]?.definitions[cluster]
    }

    func dataVersion(of cluster: UInt32, on endpoint: UInt16) -> UInt32 {
        state.changeLog.version(of: cluster, on: endpoint)
    }

    func read(
        _ path: ConcretePath, for accessor: Accessor, isFabricFiltered: Bool, now: Instant
    ) throws(InteractionStatus) -> TLVValue {
        let definition = try definition(path)
        guard definition.attribute(path.member) != nil, let place = place(path) else {
            throw InteractionStatus(.unsupportedAttribute)
        }
        if let global = GlobalAttribute(rawValue: path.member) { return definition.value(of: global) }
        let call = Call(
            endpoint: path.endpoint, accessor: accessor, isFabricFiltered: isFabricFiltered, now: now,
            failSafe: state.failSafe)
        return try places[place].server.read(path.member, call, state)
    }

    mutating func write(
        _ path: ConcretePath, _ value: TLVValue, appends: Bool, for accessor: Accessor, now: Instant
    ) throws(InteractionStatus) {
        start(now)
        let definition = try definition(path)
        guard let attribute = definition.attribute(path.member), let place = place(path),
            let row = state.model.row(of: path.member, of: path.cluster)
        else { throw InteractionStatus(.unsupportedAttribute) }
        guard attribute.write != nil else { throw InteractionStatus(.unsupportedWrite) }
        if let code = row.rejection(of: value, isItem: appends) { throw InteractionStatus(code) }
        let call = Call(endpoint: path.endpoint, accessor: accessor, now: now, failSafe: state.failSafe)
        try places[place].server.write(path.member, value, appends: appends, call, &state)
    }

    mutating func invoke(
        _ path: ConcretePath, _ fields: TLVValue, for accessor: Accessor, now: Instant
    ) -> CommandReply {
        start(now)
        do throws(InteractionStatus) {
            guard try definition(path).command(path.member) != nil, let place = place(path) else {
                throw InteractionStatus(.unsupportedCommand)
            }
            let call = Call(endpoint: path.endpoint, accessor: accessor, now: now, failSafe: state.failSafe)
            return try places[place].server.invoke(path.member, fields, call, &state)
        } catch {
            return .status(error)
        }
    }

    /// The highest privilege of an accessor (Matter 6.6.6.2). A PASE session has an implicit entry for administration.
    func privileges(of accessor: Accessor, on endpoint: UInt16, cluster: UInt32) -> Privilege? {
        let matches: (AccessControlEntry) -> Bool
        switch accessor.kind {
        case .commissioning: return .administer
        case .operational(let peer): matches = { $0.matches(peer) }
        case .group(let sender): matches = { $0.matches(group: sender.group) }
        }
        return accessor.fabric.flatMap { state.records.fabric($0) }?.accessControl.privilege(
            on: endpoint, deviceTypes: state.model[endpoint]?.deviceTypes.map(\.id) ?? [], cluster: cluster,
            where: matches)
    }

    func events(after number: UInt64?) -> [NodeEvent] { state.journal.events(after: number) }

    mutating func takeChanges() -> Set<ConcretePath> { state.changeLog.takeChanges() }

    // MARK: Helpers

    /// The time of the last call that had one. The device calls ``expire(now:)`` before calls without a time.
    private var lastTime = Instant.zero

    /// Records the events and counters of the start before the first other event.
    private mutating func start(_ now: Instant) {
        lastTime = max(lastTime, now)
        guard !isStarted else { return }
        isStarted = true
        if state.configuration.startReason != .softwareReset { state.records.counters.reboots &+= 1 }
        state.record(
            BasicInformation.Event.startUp, of: .basicInformation,
            .fields((0, .number(state.configuration.firmwareNumber))), now: now)
        state.record(
            GeneralDiagnostics.Event.bootReason, of: .generalDiagnostics,
            .fields((0, .number(state.configuration.startReason.rawValue))), now: now)
        state.effects.store()
        state.effects.add(.announce)
    }

    private func definition(_ path: ConcretePath) throws(InteractionStatus) -> ClusterDefinition {
        guard let endpoint = state.model[path.endpoint] else { throw InteractionStatus(.unsupportedEndpoint) }
        guard let definition = endpoint.definitions[path.cluster] else { throw InteractionStatus(.unsupportedCluster) }
        return definition
    }

    private func place(_ path: ConcretePath) -> Int? {
        places.firstIndex { $0.endpoint == path.endpoint && $0.cluster == path.cluster }
    }

    private mutating func forEachServer(_ body: (inout any ClusterServer, inout NodeState) -> Void) {
        for place in places.indices { body(&places[place].server, &state) }
    }
}

extension ClusterID {
    /// Creates the behaviour of the cluster.
    func server(on endpoint: UInt16) -> any ClusterServer {
        switch self {
        case .identify: IdentifyServer(endpoint: endpoint)
        case .groups: GroupsServer(endpoint: endpoint)
        case .onOff: OnOffServer()
        case .levelControl: LevelServer()
        case .descriptor: DescriptorServer(endpoint: endpoint)
        case .accessControl: AccessControlServer()
        case .basicInformation: BasicInformationServer()
        case .generalCommissioning: GeneralCommissioningServer()
        case .networkCommissioning: NetworkCommissioningServer()
        case .generalDiagnostics: GeneralDiagnosticsServer()
        case .softwareDiagnostics, .powerTopology: EmptyServer()
        case .switchCluster: SwitchServer()
        case .administratorCommissioning: AdministratorCommissioningServer()
        case .operationalCredentials: OperationalCredentialsServer()
        case .groupKeyManagement: GroupKeyServer()
        case .scenesManagement: ScenesServer(endpoint: endpoint)
        case .electricalPowerMeasurement: PowerServer()
        case .electricalEnergyMeasurement: EnergyServer()
        }
    }
}
