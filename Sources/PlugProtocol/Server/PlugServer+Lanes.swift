import PlugModel
internal import ProtocolCore

extension PlugServer {
    /// Advances the lanes of all sessions and sends their output. Runs at the end of each call of ``handle(_:now:)``.
    mutating func pump(now: Instant, _ actions: inout [Action]) {
        // The newest event is encoded once, because all live subscribers get the same bytes.
        var latest: (sequence: SequenceNumber, frame: [UInt8])?
        for connection in sessions.connections {
            guard let silentAt = sessions[connection]?.silentAt, now < silentAt else {
                let detail = "Nothing was received for \(PlugWire.silenceLimit.components.seconds) s."
                end(connection, Goodbye(.silent, detail), now: now, &actions)
                continue
            }
            advance(connection, &latest, now: now, &actions)
            sendLog(connection, now: now)
            sessions[connection]?.keepAlive(now: now)
            if let bytes = sessions[connection]?.takeOutput(now: now) {
                actions.append(.shell(.send(connection, bytes)))
            }
            if let unsent = sessions[connection]?.unsentBytes, unsent > limits.unsentBytes {
                let detail = "The controller left more than \(limits.unsentBytes) bytes unread."
                end(connection, Goodbye(.limit, detail), now: now, &actions)
            }
        }
    }

    /// Advances the lanes of a session while its connection is writable.
    private mutating func advance(
        _ connection: ConnectionID, _ latest: inout (sequence: SequenceNumber, frame: [UInt8])?, now: Instant,
        _ actions: inout [Action]
    ) {
        guard sessions[connection]?.writable == true, case .established(var established) = sessions[connection]?.phase
        else { return }
        if case .open(let cursor) = established.events, cursor + 1 < journal.nextSequence {
            established.events = .open(cursor: sendEvents(connection, after: cursor, &latest, now: now))
        }
        if case .open(var subscription) = established.states, let due = subscription.due(state), due <= now {
            var update = WireStateUpdate()
            update.state = WireState(state)
            update.plugTime = WireScalar.nanoseconds(now)
            sessions[connection]?.say { $0.state = update }
            subscription.sent = state
            subscription.sentAt = now
            established.states = .open(subscription)
        }
        if let fetch = established.fetches.first, !fetch.asked {
            established.fetches[0].asked = true
            actions.append(.fetch(connection, fetch: fetch.id, from: fetch.from, to: fetch.to))
        }
        sessions[connection]?.phase = .established(established)
    }

    /// Sends at most one burst of events after the cursor and returns the new cursor.
    private mutating func sendEvents(
        _ connection: ConnectionID, after cursor: SequenceNumber,
        _ latest: inout (sequence: SequenceNumber, frame: [UInt8])?,
        now: Instant
    ) -> SequenceNumber {
        var cursor = cursor
        // A slow subscriber has not read events that the ring overwrote, or the journal skipped numbers. The subscriber
        // is informed of the gap.
        if case .gap(let gap) = journal.resume(after: cursor) {
            let subscribed = WireSubscribed(next: journal.nextSequence, gap: gap)
            sessions[connection]?.say { $0.subscribed = subscribed }
            cursor = gap.to
        }
        while let bytes = sessions[connection]?.outputBytes, bytes < limits.burstBytes, let event = journal[cursor + 1]
        {
            cursor = event.sequence
            if let latest, latest.sequence == cursor {
                sessions[connection]?.say(frame: latest.frame)
                continue
            }
            var message = WirePlugMessage()
            message.event = WireEvent(event, session: identity.boot, now: now)
            let frame = FrameEncoder.frame(message)
            latest = (cursor, frame)
            sessions[connection]?.say(frame: frame)
        }
        if cursor + 1 < journal.nextSequence { continueSending(at: now) }
        return cursor
    }

    mutating func fetch(
        _ wire: WireFetchSamples, from connection: ConnectionID, _ established: ServerSession.Established, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let from = try WireScalar.instant(wire.from, "from", upTo: Instant(nanoseconds: .max))
        let to = try WireScalar.instant(wire.to, "to", upTo: Instant(nanoseconds: .max))
        guard from <= to else {
            throw .outOfRange(field: "to", value: to.nanoseconds, allowed: from.nanoseconds...Int64.max)
        }
        guard established.fetches.count < PlugWire.fetchesInFlight else {
            let detail = "More than \(PlugWire.fetchesInFlight) fetches at the same time."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        let key = sessions[connection]?.key
        let ofController = sessions.all.reduce(0) { $0 + ($1.key == key ? $1.fetchCount : 0) }
        guard ofController < PlugWire.fetchesOfController else {
            let detail = "More than \(PlugWire.fetchesOfController) fetches of this controller at the same time."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        var established = established
        established.fetches.append(ServerSession.Fetch(id: wire.fetchID, from: from, to: to))
        sessions[connection]?.phase = .established(established)
    }

    mutating func answer(fetch: UInt32, on connection: ConnectionID, chunk: [UInt8], next: Instant?) {
        precondition(chunk.count <= PlugWire.maximumChunk, "a chunk has at most \(PlugWire.maximumChunk) bytes")
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, let asked = established.fetches.first,
            asked.asked, asked.id == fetch
        else { return }
        var samples = WireSampleChunk()
        samples.fetchID = fetch
        samples.chunk = .init(chunk)
        samples.last = next == nil
        sessions[connection]?.say { $0.samples = samples }
        if let next {
            precondition(next > asked.from, "each part of a fetch advances its position")
            established.fetches[0] = ServerSession.Fetch(id: fetch, from: next, to: asked.to)
        } else {
            established.fetches.removeFirst()
        }
        sessions[connection]?.phase = .established(established)
    }
}
