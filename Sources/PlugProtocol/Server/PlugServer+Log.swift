import PlugModel
internal import ProtocolCore

/// The log lane. Each following session has a cursor into the last lines. All other messages have priority over it.
extension PlugServer {
    mutating func followLog(_ wire: WireFollowLog, from connection: ConnectionID, now: Instant) {
        let duration = min(.seconds(Int64(wire.seconds)), PlugWire.longestLog)
        guard duration > .zero else { return endLog(connection) }
        guard let session = sessions[connection] else { return }
        let others = sessions.all.filter { $0.connection != connection && $0.log != nil }
        let own = others.count { $0.key == session.key }
        guard others.count < PlugWire.logFollowers, own < PlugWire.logFollowersOfController else {
            let detail =
                "\(others.count) sessions already follow this plug's log, \(own) from this controller; try again when one "
                + "has ended."
            sessions[connection]?.say { $0.logAnswer.refused = WireRefused(Refusal(.busy, detail)) }
            return
        }
        // After a repeated request, the session keeps its position in the log.
        var cursor = session.log ?? LogCursor(level: wire.level.model, until: now)
        cursor.level = wire.level.model
        cursor.until = now + duration
        sessions[connection]?.log = cursor
        sessions[connection]?.say {
            $0.logAnswer.followed.level = WireLogLevel(cursor.level)
            $0.logAnswer.followed.seconds = UInt32(duration.components.seconds)
        }
    }

    mutating func endLog(_ connection: ConnectionID) {
        sessions[connection]?.log = nil
        sessions[connection]?.say { $0.logAnswer.ended = WireLogEnded() }
    }

    mutating func remember(_ lines: [LogLine], lost: UInt64) {
        sessions.updateAll { $0.log?.lost += lost }
        for line in lines {
            for forgotten in appendToLog(line) {
                sessions.updateAll { if $0.log?.wants(forgotten) == true { $0.log?.lost += 1 } }
            }
        }
    }

    /// Sends the next lines to a following session that has received all events, and ends expired subscriptions.
    mutating func sendLog(_ connection: ConnectionID, now: Instant) {
        guard let session = sessions[connection], var cursor = session.log else { return }
        if session.writable, !hasEvents(for: session) {
            if let lines = nextLines(for: &cursor) { sessions[connection]?.say { $0.logLines = lines } }
            // Other sessions get their turn before the remaining lines.
            if log.hasMore(after: cursor.last) { continueSending(at: now) }
            sessions[connection]?.log = cursor
        }
        if cursor.until <= now { endLog(connection) }
    }

    private func hasEvents(for session: ServerSession) -> Bool {
        guard case .established(let established) = session.phase, case .open(let cursor) = established.events else {
            return false
        }
        return cursor + 1 < journal.nextSequence
    }

    private func nextLines(for cursor: inout LogCursor) -> WireLogLines? {
        guard cursor.lost > 0 || log.hasMore(after: cursor.last) else { return nil }
        var message = WireLogLines()
        message.lost = cursor.lost
        cursor.lost = 0
        for line in log.lines(after: cursor.last) {
            guard message.lines.count < PlugWire.logLinesAtOnce else { break }
            if cursor.wants(line) { message.lines.append(WireLogLine(line)) }
            cursor.last = line.number
        }
        return message.lost == 0 && message.lines.isEmpty ? nil : message
    }
}
