import MadeUpKeys
import PlugModel
import PlugProtocol
import ProtocolCore

extension FuzzTarget {
    /// Whatever a stranger sends to a plug, in whatever pieces: the plug does the same, answers in whole frames, and serves the
    /// next controller as if nothing had been.
    static let plugServer = FuzzTarget(
        name: "plug-server",
        seeds: { recorded { $0.fromGuest } },
        check: { bytes in
            var first: StrangersVisit?
            for pieces in cuts(of: bytes) {
                let visit = try StrangersVisit(pieces)
                try require(first == nil || first == visit, "the plug does \(visit) here and \(first!) there")
                first = visit
            }
            return first?.wasGreeted == true
        })

    /// Whatever a plug sends, in whatever pieces: the same is delivered, and no event is missing, twice or out of order.
    static let controllerSession = FuzzTarget(
        name: "controller-session",
        seeds: { recorded { $0.fromPlug } },
        check: { bytes in
            var first: [SessionUpdate]?
            for pieces in cuts(of: bytes) {
                var guest = try Guest()
                for piece in pieces { try guest.handle(.received(piece)) }
                _ = try countFrames(guest.take())
                _ = try guest.checkEvents()
                try guest.checkLog()
                try require(first == nil || first == guest.updates, "delivered \(guest.updates), and \(first!) before")
                first = guest.updates
            }
            return first?.isEmpty == false
        })

    /// One direction of a whole visit, and of one that goes on: a button, and the plug's stop.
    static func recorded(_ direction: (Visit) -> [UInt8]) -> [[UInt8]] {
        do {
            var visit = try Visit(to: .prepared)
            let short = direction(visit)
            try visit.plug.handle(.record(.buttonPressed(.double)))
            try visit.plug.handle(.stop)
            try visit.exchange()
            return [short, direction(visit)]
        } catch {
            preconditionFailure("an honest visit fails: \(error)")
        }
    }
}

/// What a stranger's stream made the plug do, apart from what depends on the moment at which its pieces came.
private struct StrangersVisit: Equatable {
    private static let connection = ConnectionID(rawValue: 1)
    let requests: [RequestID]
    let controllers: [String]
    let commands: [PlugCommand]
    let end: EndReason?
    /// Whether Welcome went out depends on the pieces: a Goodbye behind Hello in one piece is faster.
    let wasGreeted: Bool

    static func == (left: StrangersVisit, right: StrangersVisit) -> Bool {
        left.requests == right.requests && left.controllers == right.controllers && left.commands == right.commands
            && left.end == right.end
    }

    init(_ pieces: [[UInt8]]) throws {
        var plug = FuzzedPlug.prepared
        try plug.handle(.opened(PlugServer.Opening(Self.connection, of: .desk, peer: "stranger")))
        for piece in pieces { try plug.handle(.received(Self.connection, piece)) }
        requests = plug.performs.map(\.id.request)
        controllers = plug.performs.map(\.controller)
        commands = plug.performs.map(\.command)
        end = plug.ends[Self.connection]
        try plug.answer()
        let frames = try countFrames(plug.sent[Self.connection] ?? [])
        // The first frame of a plug is Welcome, or the Goodbye of a session that never was.
        wasGreeted = frames > (end == nil ? 0 : 1)
        try Self.checkNextVisit(plug)
    }

    private static func checkNextVisit(_ plug: FuzzedPlug) throws {
        let next = plug.server.journal.nextSequence
        let visit = try Visit(to: plug)
        let seen = try visit.guest.checkEvents()
        try require(visit.guest.closed == nil, "the next controller is sent away: \(visit.guest.updates)")
        try require(seen + 1 >= next, "the next controller saw \(seen), the journal is at \(next)")
        let lines = visit.guest.updates.count(where: { if case .log(.line) = $0 { true } else { false } })
        try require(
            visit.guest.updates.contains { if case .audit(.success) = $0 { true } else { false } },
            "the next controller got nothing of the audit log")
        try require(lines == Guest.lines, "the next controller got \(lines) of \(Guest.lines) lines of the log")
        let finished = visit.guest.updates.filter { update in
            if case .commandFinished = update { true } else { false }
        }
        let asked = Guest.commands
        try require(finished.count == asked, "the next controller got \(finished.count) of \(asked) answers")
    }
}
