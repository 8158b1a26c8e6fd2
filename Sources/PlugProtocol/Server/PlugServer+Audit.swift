public import PlugModel
internal import ProtocolCore

/// The audit log: creates its notes and answers requests for it. The shell stores the log.
extension PlugServer {
    struct Asker: Sendable {
        var actor: AuditActor
        var command: PlugCommand
    }

    /// Adds a note about an action of a session, or about its refusal.
    mutating func note(
        _ kind: AuditNote.Kind, of connection: ConnectionID, isRefused: Bool = false, _ detail: String = ""
    ) {
        add(AuditNote(kind, by: actor(of: connection), isRefused: isRefused, detail))
    }

    func actor(of connection: ConnectionID) -> AuditActor {
        guard let key = sessions[connection]?.key else { return .unknown }
        return access.controllers[key]?.auditActor
            ?? .stranger(key: String(key.fingerprint.prefix(AuditActor.keyDigits)))
    }

    /// The actor of an unanswered factory reset, or nil if no controller requested one.
    public var resetAsker: AuditActor? { sessions.all.first(where: \.awaitsReset).map { actor(of: $0.connection) } }

    /// Adds a note if the command was refused.
    mutating func noteEnd(ofCommandOf asker: Asker, _ outcome: CommandOutcome) {
        guard case .refused(let refusal) = outcome else { return }
        add(
            AuditNote(.refused, by: asker.actor, isRefused: true, "\(asker.command.words): \(refusal.code.words)"))
    }

    /// Handles FetchAudit. Allows one request at a time, because one read could contain thousands of requests of a few
    /// bytes, and each answer can fill half of a frame.
    mutating func fetchAudit(
        _ wire: WireFetchAudit, from connection: ConnectionID, _ established: ServerSession.Established, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let after = try WireScalar.auditNumber(wire.after, "after", from: 0)
        guard !established.awaitsAudit else {
            let detail = "A page of the audit log was requested before the previous one was sent."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        var established = established
        established.awaitsAudit = true
        sessions[connection]?.phase = .established(established)
        let limit = wire.limit == 0 ? nil : Int(wire.limit)
        actions.append(.fetchAudit(connection, after: after, limit: limit))
    }

    mutating func answer(audit page: AuditPage, on connection: ConnectionID) {
        precondition(
            page.entries.count <= PlugWire.auditEntriesAtOnce,
            "a page has at most \(PlugWire.auditEntriesAtOnce) entries")
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, established.awaitsAudit
        else { return }
        established.awaitsAudit = false
        sessions[connection]?.phase = .established(established)
        guard established.role.may(.fetch_audit) else { return refuse(.fetch_audit, established.role, to: connection) }
        let wire = WireAuditEntries(page, session: identity.boot)
        sessions[connection]?.say { $0.audit = wire }
    }
}

extension PairedControllers.Controller {
    /// The controller as an actor of the audit log.
    public var auditActor: AuditActor {
        .controller(name: name, key: String(key.fingerprint.prefix(AuditActor.keyDigits)))
    }

    /// The controller as a part of a note's detail.
    var inWords: String { "\(name) (\(key.fingerprint.prefix(AuditActor.keyDigits)))" }
}

extension PlugCommand {
    /// The command as a part of a note's detail.
    fileprivate var words: String {
        switch self {
        case .setRelay: "switch"
        case .setLevel: "dim"
        case .identify: "identify"
        case .resetProtection: "reset protection"
        case .rename: "rename"
        case .configure: "configure"
        }
    }
}

extension Refusal.Code {
    /// The code as a part of a note's detail.
    var words: String {
        switch self {
        case .notPaired: "not paired"
        case .protectionTripped: "protection tripped"
        case .unsupported: "unsupported"
        case .outOfRange: "out of range"
        case .busy: "busy"
        case .deadlinePassed: "deadline passed"
        case .lockedOn: "locked on"
        case .resting: "resting"
        case .storageFailed: "storage failed"
        case .notAllowed: "not allowed"
        case .unknown: "unknown"
        }
    }
}
