internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// A cluster on an endpoint.
struct ClusterPath: Hashable, Sendable {
    var endpoint: UInt16
    var cluster: UInt32

    init(_ endpoint: UInt16, _ cluster: UInt32) { (self.endpoint, self.cluster) = (endpoint, cluster) }
    init(_ path: ConcretePath) { self.init(path.endpoint, path.cluster) }
}

extension AttributePath {
    /// The path without wildcards, or nil if it has one.
    var concrete: ConcretePath? {
        guard let endpoint, let cluster, let attribute else { return nil }
        return ConcretePath(endpoint, cluster, attribute)
    }

    /// A path with a concrete attribute and any cluster must name a global attribute (Matter 8.2.1.6).
    var isValid: Bool {
        guard cluster == nil, let attribute else { return true }
        return AttributeDefinition.isGlobal(attribute)
    }

    /// Returns true if the path contains the concrete path.
    func contains(_ path: ConcretePath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && attribute ?? path.member == path.member
    }

    init(_ path: ConcretePath) {
        self.init(endpoint: path.endpoint, cluster: path.cluster, attribute: path.member)
    }
}

extension EventPath {
    /// The path without wildcards, or nil if it has one.
    var concrete: ConcretePath? {
        guard let endpoint, let cluster, let event else { return nil }
        return ConcretePath(endpoint, cluster, event)
    }

    /// A path with a concrete event must name its cluster (Matter 8.2.1.7).
    var isValid: Bool { cluster != nil || event == nil }

    /// Returns true if the path contains the concrete path.
    func contains(_ path: ConcretePath) -> Bool {
        endpoint ?? path.endpoint == path.endpoint && cluster ?? path.cluster == path.cluster
            && event ?? path.member == path.member
    }
}

extension InteractionServer {
    // MARK: Read (Matter 8.4)

    mutating func read(_ request: ReadRequest, on exchange: ExchangeID, from accessor: Accessor, now: Instant) {
        guard request.attributes.allSatisfy(\.isValid), request.events.allSatisfy(\.isValid) else {
            return finish(exchange, .invalidAction)
        }
        let chunks = chunks(of: request, for: accessor, subscription: nil, now: now)
        sendNext(PendingReport(subscription: nil, chunks), on: exchange, from: accessor, now: now)
    }

    /// Returns the messages that report all that the request selects.
    func chunks(
        of request: ReadRequest, for accessor: Accessor, subscription: UInt32?, now: Instant
    ) -> [ReportData] {
        var chunks = ReportChunks(subscription: subscription, limit: messageLimit)
        for report in attributeReports(request, for: accessor, now: now) { chunks.add(report) }
        for report in eventReports(request, for: accessor) { chunks.add(report) }
        return chunks.messages()
    }

    /// Sends the next chunk of a report. The last chunk of a read ends the exchange.
    mutating func sendNext(
        _ report: PendingReport, on exchange: ExchangeID, from accessor: Accessor, now: Instant
    ) {
        var report = report
        guard let chunk = report.next() else { return close(exchange) }
        let isLast = chunk.suppressesResponse
        if !isLast {
            transactions[exchange] = Transaction(
                accessor: accessor, step: .reporting(report), deadline: now + Self.peerTime)
        }
        send(.report(chunk), on: exchange, isLast: isLast)
    }

    /// Handles the peer's status for a chunk.
    mutating func confirmed(
        _ report: PendingReport, _ code: InteractionStatusCode, on exchange: ExchangeID, now: Instant
    ) {
        guard code == .success, let accessor = transactions[exchange]?.accessor else {
            if let id = report.subscription { lose(id) }
            return close(exchange)
        }
        guard report.isComplete else { return sendNext(report, on: exchange, from: accessor, now: now) }
        guard let id = report.subscription, subscriptions[id] != nil else { return close(exchange) }
        delivered(id, on: exchange, now: now)
    }

    // MARK: Attributes (Matter 8.4.3.2)

    private func attributeReports(
        _ request: ReadRequest, for accessor: Accessor, now: Instant
    ) -> [AttributeReport] {
        var reports: [AttributeReport] = []
        // Overlapping paths are reported once. Otherwise a small request could cause an answer of any size.
        var reported: Set<ConcretePath> = []
        let unchanged = unchanged(request.versions)
        for path in request.attributes {
            if let concrete = path.concrete {
                guard reported.insert(concrete).inserted else { continue }
                do throws(InteractionStatus) {
                    try checkRead(concrete, for: accessor)
                    guard !unchanged.contains(ClusterPath(concrete)) else { continue }
                    reports.append(try value(of: concrete, request, for: accessor, now: now))
                } catch {
                    reports.append(.status(path, error))
                }
            } else {
                for concrete in expand(path, for: accessor) where !unchanged.contains(ClusterPath(concrete)) {
                    guard reported.insert(concrete).inserted else { continue }
                    guard let report = try? value(of: concrete, request, for: accessor, now: now) else { continue }
                    reports.append(report)
                }
            }
        }
        return reports
    }

    /// The clusters whose data version the peer already has.
    private func unchanged(_ filters: [DataVersionFilter]) -> Set<ClusterPath> {
        Set(
            filters.filter { node.dataVersion(of: $0.cluster, on: $0.endpoint) == $0.version }
                .map { ClusterPath($0.endpoint, $0.cluster) })
    }

    /// Returns the report of changed attributes. Attributes that the subscriber may no longer read are omitted.
    func changeReports(
        _ changes: Set<ConcretePath>, _ request: ReadRequest, for accessor: Accessor, now: Instant
    ) -> [AttributeReport] {
        changes.sorted().compactMap { path in
            guard (try? checkRead(path, for: accessor)) != nil else { return nil }
            return try? value(of: path, request, for: accessor, now: now)
        }
    }

    private func value(
        of path: ConcretePath, _ request: ReadRequest, for accessor: Accessor, now: Instant
    ) throws(InteractionStatus) -> AttributeReport {
        let value = try node.read(path, for: accessor, isFabricFiltered: request.isFabricFiltered, now: now)
        let version = node.dataVersion(of: path.cluster, on: path.endpoint)
        return .data(AttributeData(path: AttributePath(path), version: version, value: value))
    }

    /// Checks that an attribute exists and the accessor may read it.
    private func checkRead(_ path: ConcretePath, for accessor: Accessor) throws(InteractionStatus) {
        let (definition, granted) = try cluster(of: path, for: accessor)
        guard let attribute = definition.attribute(path.member) else {
            throw InteractionStatus(.unsupportedAttribute)
        }
        guard granted >= attribute.read else { throw InteractionStatus(.unsupportedAccess) }
    }

    /// Returns the cluster and the accessor's privilege. An accessor without any privilege does not learn whether the
    /// endpoint and the cluster exist.
    func cluster(
        of path: ConcretePath, for accessor: Accessor
    ) throws(InteractionStatus) -> (ClusterDefinition, Privilege) {
        guard let granted = node.privileges(of: accessor, on: path.endpoint, cluster: path.cluster) else {
            throw InteractionStatus(.unsupportedAccess)
        }
        guard node.endpoints.contains(path.endpoint) else { throw InteractionStatus(.unsupportedEndpoint) }
        guard let definition = node.definition(of: path.cluster, on: path.endpoint) else {
            throw InteractionStatus(.unsupportedCluster)
        }
        return (definition, granted)
    }

    /// Returns the readable attributes that a path with wildcards contains.
    func expand(_ path: AttributePath, for accessor: Accessor) -> [ConcretePath] {
        var paths: [ConcretePath] = []
        for (endpoint, definition, granted) in clusters(path.endpoint, path.cluster, for: accessor) {
            for attribute in definition.attributes
            where path.attribute ?? attribute.id == attribute.id && granted >= attribute.read {
                paths.append(ConcretePath(endpoint, definition.id, attribute.id))
            }
        }
        return paths
    }

    /// Returns the accessible clusters that an endpoint and a cluster (nil for any) select.
    private func clusters(
        _ endpoint: UInt16?, _ cluster: UInt32?, for accessor: Accessor
    ) -> [(UInt16, ClusterDefinition, Privilege)] {
        let endpoints = node.endpoints.filter { endpoint ?? $0 == $0 }
        return endpoints.flatMap { endpoint in
            node.clusters(on: endpoint).compactMap { id in
                guard cluster ?? id == id, let definition = node.definition(of: id, on: endpoint),
                    let granted = node.privileges(of: accessor, on: endpoint, cluster: id)
                else { return nil }
                return (endpoint, definition, granted)
            }
        }
    }

    // MARK: Events (Matter 8.4.3.2)

    private func eventReports(_ request: ReadRequest, for accessor: Accessor) -> [EventReport] {
        guard !request.events.isEmpty else { return [] }
        var reports: [EventReport] = []
        for path in request.events {
            guard let concrete = path.concrete else { continue }
            do throws(InteractionStatus) {
                try checkRead(event: concrete, for: accessor)
            } catch {
                reports.append(.status(path, error))
            }
        }
        // The filter includes the event with the minimum itself.
        let minimum = request.eventMinimum ?? 0
        let events = node.events(after: minimum == 0 ? nil : minimum - 1)
        return reports + self.reports(of: events, request, for: accessor)
    }

    /// Returns reports of those events that the request selects and the accessor may read.
    func reports(of events: [NodeEvent], _ request: ReadRequest, for accessor: Accessor) -> [EventReport] {
        events.filter { event in
            request.events.contains { $0.contains(event.path) } && mayRead(event, for: accessor)
        }.map { event in
            let path = event.path
            return .data(
                EventData(
                    path: EventPath(endpoint: path.endpoint, cluster: path.cluster, event: path.member),
                    number: event.number, priority: event.priority,
                    timestamp: .system(UInt64(clamping: event.time.wholeNanoseconds / 1_000_000)), value: event.value))
        }
    }

    /// Returns true if the accessor may read the event. Events of other fabrics are always hidden (Matter 7.14.2).
    func mayRead(_ event: NodeEvent, for accessor: Accessor) -> Bool {
        if let fabric = event.fabric, fabric != accessor.fabric { return false }
        return (try? checkRead(event: event.path, for: accessor)) != nil
    }

    private func checkRead(event path: ConcretePath, for accessor: Accessor) throws(InteractionStatus) {
        let (definition, granted) = try cluster(of: path, for: accessor)
        guard let event = definition.event(path.member) else { throw InteractionStatus(.unsupportedEvent) }
        guard granted >= event.read else { throw InteractionStatus(.unsupportedAccess) }
    }

    /// Returns true if a path selects at least one attribute or event that the accessor may read.
    func selectsAny(_ request: ReadRequest, for accessor: Accessor) -> Bool {
        request.attributes.contains { !expand($0, for: accessor).isEmpty }
            || request.events.contains { path in
                clusters(path.endpoint, path.cluster, for: accessor).contains { _, definition, granted in
                    definition.events.contains { path.event ?? $0.id == $0.id && granted >= $0.read }
                }
            }
    }
}
