public import PlugModel
internal import ProtocolCore

/// The audit log: what belongs into it, and who reads it. The log itself is kept elsewhere.
extension PlugServer {
    struct Asker: Sendable {
        var actor: AuditActor
        var command: PlugCommand
    }

    /// Notes what a session did, or was refused.
    mutating func note(
        _ kind: AuditNote.Kind, of connection: ConnectionID, isRefused: Bool = false, _ detail: String = ""
    ) {
        notes.append(AuditNote(kind, by: actor(of: connection), isRefused: isRefused, detail))
    }

    func actor(of connection: ConnectionID) -> AuditActor {
        guard let key = sessions[connection]?.key else { return .unknown }
        return access.controllers[key]?.auditActor
            ?? .stranger(key: String(key.fingerprint.prefix(AuditActor.keyDigits)))
    }

    /// Who asked for a command that is being carried out; nil for one that is not.
    public func asker(of command: CommandID) -> AuditActor? { askers[command]?.actor }

    /// Who asked for the factory reset that is not answered yet; nil where no controller did.
    public var resetAsker: AuditActor? { sessions.all.first(where: \.awaitsReset).map { actor(of: $0.connection) } }

    mutating func noteEnd(of command: CommandID, _ outcome: CommandOutcome) {
        guard let asker = askers.removeValue(forKey: command), case .refused(let refusal) = outcome else { return }
        notes.append(
            AuditNote(.refused, by: asker.actor, isRefused: true, "\(asker.command.words): \(refusal.code.words)"))
    }

    /// One question at a time: a few bytes ask for half a frame, and thousands of such questions fit one read.
    mutating func fetchAudit(
        _ wire: WireFetchAudit, from connection: ConnectionID, _ established: ServerSession.Established, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let after = try WireScalar.auditNumber(wire.after, "after", from: 0)
        guard !established.awaitsAudit else {
            let detail = "A part of the audit log was asked for before the last one had come."
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
        // The session may have gone since it asked.
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
    /// As the audit log names it.
    public var auditActor: AuditActor {
        .controller(name: name, key: String(key.fingerprint.prefix(AuditActor.keyDigits)))
    }

    /// The same, in a detail.
    var inWords: String { "\(name) (\(key.fingerprint.prefix(AuditActor.keyDigits)))" }
}

extension PlugCommand {
    /// In an entry of the audit log.
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
    /// In an entry of the audit log.
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
