import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Sends bytes of a controller to a plug, in several segmentations. The plug acts the same for each segmentation,
    /// answers in complete frames, and serves the next controller normally.
    static let plugServer = FuzzTarget(
        name: "plug-server",
        seeds: { recorded { $0.fromGuest } },
        check: { bytes in
            var first: StrangersVisit?
            for pieces in cuts(of: bytes) {
                let visit = try StrangersVisit(pieces)
                try require(first == nil || first == visit, "segmentations differ: \(visit) and \(first!)")
                first = visit
            }
            return first?.wasGreeted == true
        })

    /// Sends bytes of a plug to a controller, in several segmentations. Each segmentation delivers the same updates,
    /// and no event is missing, repeated or out of order.
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
                try require(first == nil || first == guest.updates, "different: \(guest.updates) and \(first!)")
                first = guest.updates
            }
            return first?.isEmpty == false
        })

    /// Returns one direction of a complete visit, and of a visit that continues with a button press and the plug's
    /// stop.
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

/// The effects of a stream on the plug, without those that depend on the arrival times of its pieces.
private struct StrangersVisit: Equatable {
    private static let connection = ConnectionID(rawValue: 1)
    let requests: [RequestID]
    let controllers: [String]
    let commands: [PlugCommand]
    let end: EndReason?
    /// True if the plug sent Welcome. This depends on the pieces, because a Goodbye in the same piece as Hello is
    /// handled first.
    let wasGreeted: Bool

    static func == (left: StrangersVisit, right: StrangersVisit) -> Bool {
        left.requests == right.requests && left.controllers == right.controllers && left.commands == right.commands
            && left.end == right.end
    }

    init(_ pieces: [[UInt8]]) throws {
        var plug = FuzzedPlug.prepared
        try plug.handle(.shell(.opened(PlugServer.Opening(Self.connection, of: .desk, peer: "stranger"))))
        for piece in pieces { try plug.handle(.shell(.received(Self.connection, piece))) }
        requests = plug.performs.map(\.id.request)
        controllers = plug.performs.map(\.controller)
        commands = plug.performs.map(\.command)
        end = plug.ends[Self.connection]
        try plug.answer()
        let frames = try countFrames(plug.sent[Self.connection] ?? [])
        // The first frame of a plug is Welcome, or Goodbye if no session started.
        wasGreeted = frames > (end == nil ? 0 : 1)
        try Self.checkNextVisit(plug)
    }

    private static func checkNextVisit(_ plug: FuzzedPlug) throws {
        let next = plug.server.journal.nextSequence
        let visit = try Visit(to: plug)
        let seen = try visit.guest.checkEvents()
        try require(visit.guest.closed == nil, "the next controller is disconnected: \(visit.guest.updates)")
        try require(seen + 1 >= next, "the next controller received events up to \(seen), not \(next - 1)")
        let lines = visit.guest.updates.count(where: { if case .log(.line) = $0 { true } else { false } })
        try require(
            visit.guest.updates.contains { if case .answer(.audit(.success)) = $0 { true } else { false } },
            "the next controller did not receive the audit log")
        try require(lines == Guest.lines, "the next controller received \(lines) of \(Guest.lines) lines of the log")
        let finished = visit.guest.updates.filter { update in
            if case .commandFinished = update { true } else { false }
        }
        let asked = Guest.commands
        try require(finished.count == asked, "the next controller received \(finished.count) of \(asked) answers")
    }
}
