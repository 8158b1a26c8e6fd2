import PlugModel
internal import ProtocolCore

/// The log lane: a cursor into the last lines for each session that follows, behind everything else that it is told.
extension PlugServer {
    mutating func followLog(_ wire: WireFollowLog, from index: Int, now: Instant) {
        let duration = min(.seconds(Int64(wire.seconds)), PlugWire.longestLog)
        guard duration > .zero else { return endLog(index) }
        let key = sessions[index].key
        let others = sessions.indices.filter { $0 != index && sessions[$0].log != nil }
        let own = others.count { sessions[$0].key == key }
        guard others.count < PlugWire.logFollowers, own < PlugWire.logFollowersOfController else {
            let detail =
                "\(others.count) sessions follow this plug's log already, \(own) of them of this controller; try again when one of "
                + "them has ended."
            return sessions[index].say { $0.logAnswer.refused = WireRefused(Refusal(.busy, detail)) }
        }
        // Whoever asks again goes on where it is.
        var cursor = sessions[index].log ?? LogCursor(level: wire.level.model, until: now)
        cursor.level = wire.level.model
        cursor.until = now + duration
        sessions[index].log = cursor
        sessions[index].say {
            $0.logAnswer.followed.level = WireLogLevel(cursor.level)
            $0.logAnswer.followed.seconds = UInt32(duration.components.seconds)
        }
    }

    private mutating func endLog(_ index: Int) {
        sessions[index].log = nil
        sessions[index].say { $0.logAnswer.ended = WireLogEnded() }
    }

    mutating func remember(_ lines: [LogLine], lost: UInt64) {
        for index in sessions.indices { sessions[index].log?.lost += lost }
        for line in lines {
            for forgotten in log.append(line) {
                for index in sessions.indices where sessions[index].log?.wants(forgotten) == true {
                    sessions[index].log?.lost += 1
                }
            }
        }
    }

    /// Sends the next lines to a session that follows and has heard every event, and ends what has lasted long enough.
    mutating func tellLog(_ index: Int, now: Instant) {
        guard var cursor = sessions[index].log else { return }
        if sessions[index].writable, !hasEvents(for: sessions[index]) {
            if let lines = nextLines(for: &cursor) { sessions[index].say { $0.logLines = lines } }
            // Others have their turn before the rest.
            if log.hasMore(after: cursor.last) { continuation = now }
            sessions[index].log = cursor
        }
        if cursor.until <= now { endLog(index) }
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

    /// The shell logs what the most curious of those who follow asked for, and falls back when they have gone.
    mutating func announceLogLevel(_ actions: inout [Action]) {
        let level = sessions.compactMap { $0.log?.level }.min()
        guard level != announcedLogLevel else { return }
        announcedLogLevel = level
        actions.append(.logLevel(level))
    }
}
