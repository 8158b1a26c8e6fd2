internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// A write whose further chunks are awaited.
struct PendingWrite: Sendable {
    /// The limit of statuses, which must fit in one response.
    static let limit = 36

    /// True if the first chunk was a timed request.
    var isTimed: Bool
    /// The result of each written attribute.
    var results: [AttributeStatus] = []
    /// The clusters that this write has changed. Their data versions are not compared again.
    var changed: Set<ClusterPath> = []
    /// The lists that the accessor was permitted to write. The write of an access control list first removes all
    /// entries, which must not revoke the writer's privilege to append the new ones.
    var permitted: Set<ConcretePath> = []
}

extension InteractionServer {
    // MARK: Write (Matter 8.7)

    mutating func write(_ request: WriteRequest, on exchange: ExchangeID, from accessor: Accessor, now: Instant) {
        guard request.isTimed == accessor.isTimed else { return finish(exchange, .timedRequestMismatch) }
        resume(PendingWrite(isTimed: request.isTimed), with: request, on: exchange, from: accessor, now: now)
    }

    /// Performs a chunk of a write. Each chunk takes effect immediately.
    mutating func resume(
        _ progress: PendingWrite, with request: WriteRequest, on exchange: ExchangeID, from accessor: Accessor,
        now: Instant
    ) {
        guard request.isTimed == progress.isTimed else { return finish(exchange, .timedRequestMismatch) }
        // A suppressed response leaves the peer of a chunked write without any answer (Matter 8.7.2.2).
        guard !(request.hasMore && request.suppressesResponse) else { return finish(exchange, .invalidAction) }
        guard request.writes.allSatisfy({ $0.path.cluster != nil && $0.path.attribute != nil }) else {
            return finish(exchange, .invalidAction)
        }
        var progress = progress
        for write in request.writes {
            perform(write, &progress, among: node.endpoints, for: accessor, now: now)
            guard progress.results.count <= PendingWrite.limit else { return finish(exchange, .resourceExhausted) }
        }
        if request.hasMore {
            transactions[exchange] = Transaction(
                accessor: accessor, step: .writing(progress), deadline: now + Self.peerTime)
            send(.status(.success), on: exchange, isLast: false)
        } else if request.suppressesResponse {
            close(exchange)
        } else {
            send(.written(progress.results), on: exchange, isLast: true)
        }
    }

    /// Writes one attribute. A path without an endpoint selects those of `endpoints`.
    mutating func perform(
        _ write: AttributeData, _ progress: inout PendingWrite, among endpoints: [UInt16], for accessor: Accessor,
        now: Instant
    ) {
        if let path = write.path.concrete {
            let status = attempt(write, path, &progress, for: accessor, now: now)
            progress.results.append(AttributeStatus(write.path, status))
            return
        }
        // A wildcard selects the endpoints on which the accessor may write the attribute. Others have no result.
        for endpoint in endpoints {
            guard let cluster = write.path.cluster, let attribute = write.path.attribute else { return }
            let path = ConcretePath(endpoint, cluster, attribute)
            guard
                progress.permitted.contains(path)
                    || (try? checkWrite(path, appends: write.path.isListAppend, for: accessor)) != nil
            else { continue }
            let status = attempt(write, path, &progress, for: accessor, now: now)
            progress.results.append(AttributeStatus(AttributePath(path), status))
        }
    }

    private mutating func attempt(
        _ write: AttributeData, _ path: ConcretePath, _ progress: inout PendingWrite, for accessor: Accessor,
        now: Instant
    ) -> InteractionStatus {
        do throws(InteractionStatus) {
            if !(write.path.isListAppend && progress.permitted.contains(path)) {
                try checkWrite(path, appends: write.path.isListAppend, for: accessor)
            }
            let cluster = ClusterPath(path)
            if let version = write.version, !progress.changed.contains(cluster),
                version != node.dataVersion(of: path.cluster, on: path.endpoint)
            {
                throw InteractionStatus(.dataVersionMismatch)
            }
            try node.write(path, write.value, appends: write.path.isListAppend, for: accessor, now: now)
            progress.changed.insert(cluster)
            progress.permitted.insert(path)
            return InteractionStatus(.success)
        } catch {
            return error
        }
    }

    /// Checks path, privilege, timed interaction and accessing fabric (Matter 8.7.3.2).
    private func checkWrite(_ path: ConcretePath, appends: Bool, for accessor: Accessor) throws(InteractionStatus) {
        let (definition, granted) = try cluster(of: path, for: accessor)
        guard let attribute = definition.attribute(path.member) else {
            throw InteractionStatus(.unsupportedAttribute)
        }
        guard let needed = attribute.write, attribute.isList || !appends else {
            throw InteractionStatus(.unsupportedWrite)
        }
        guard granted >= needed else { throw InteractionStatus(.unsupportedAccess) }
        guard accessor.isTimed || !attribute.needsTimed else { throw InteractionStatus(.needsTimedInteraction) }
        guard accessor.fabric != nil || !attribute.isFabricScoped else { throw InteractionStatus(.unsupportedAccess) }
    }
}
