import PlugModel
internal import ProtocolCore

extension WireAuditEntries {
    /// Encodes a page.
    ///
    /// - Parameter session: the boot in the session's Welcome. Entries of that boot omit it.
    init(_ page: AuditPage, session: BootID) {
        self.init()
        entries = page.entries.map { WireAuditEntry($0, session: session) }
        last = page.isLast
    }

    /// Decodes a page.
    ///
    /// - Parameter after: the number in the request.
    func model(session: BootID, after: UInt64) throws(MessageFault) -> AuditPage {
        let limit = PlugWire.auditEntriesAtOnce
        // An empty page that is not the last one would make the controller request it forever.
        guard (last ? 0...limit : 1...limit).contains(entries.count) else {
            throw .outOfRange(field: "entries", value: Int64(entries.count), allowed: (last ? 0 : 1)...Int64(limit))
        }
        var models: [AuditEntry] = []
        for wire in entries {
            models.append(try wire.model(session: session, after: models.last?.number ?? after))
        }
        return AuditPage(models, isLast: last)
    }
}

extension WireAuditEntry {
    init(_ entry: AuditEntry, session: BootID) {
        self.init()
        number = entry.number
        if entry.boot != session { bootID = .init(entry.boot.bytes) }
        plugTime = WireScalar.nanoseconds(entry.time)
        kind = WireAuditKind(entry.note.kind)
        switch entry.note.actor {
        case .controller(let name, let digits): (actor, controller, key) = (.controller, name, digits)
        case .stranger(let digits): (actor, key) = (.stranger, digits)
        case .button: actor = .button
        case .panel: actor = .panel
        case .broker: actor = .broker
        case .homeKit: actor = .homekit
        case .matter: actor = .matter
        case .configuration: actor = .configuration
        case .plug: actor = .plug
        case .unknown: actor = .unspecified
        }
        refused = entry.note.isRefused
        detail = entry.note.detail
        count = entry.count
    }

    func model(session: BootID, after: UInt64) throws(MessageFault) -> AuditEntry {
        let number = try WireScalar.auditNumber(number, "number", from: 1)
        // Entries must rise above the number in the request.
        guard number > after else {
            let highest = AuditEntry.highestNumber
            throw .outOfRange(
                field: "number", value: Int64(number), allowed: Int64(min(after, highest - 1) + 1)...Int64(highest))
        }
        guard count > 0 else { throw .outOfRange(field: "count", value: 0, allowed: 1...Int64(UInt32.max)) }
        guard detail.utf8.count <= AuditNote.longestDetail else {
            throw .length(field: "detail", bytes: detail.utf8.count, allowed: 0...AuditNote.longestDetail)
        }
        let boot = bootID.isEmpty ? session : try WireScalar.boot(bootID)
        let note = AuditNote(kind.model, by: try actorModel(), isRefused: refused, detail)
        return AuditEntry(
            number: number, boot: boot, time: try WireScalar.instant(plugTime, "plug_time"), note, count: count)
    }

    private func actorModel() throws(MessageFault) -> AuditActor {
        let name = try WireScalar.name(controller, "controller")
        let digits = try WireScalar.name(key, "key")
        return switch actor {
        case .controller: .controller(name: name, key: digits)
        case .stranger: .stranger(key: digits)
        case .button: .button
        case .panel: .panel
        case .broker: .broker
        case .homekit: .homeKit
        case .matter: .matter
        case .configuration: .configuration
        case .plug: .plug
        case .unspecified, .UNRECOGNIZED: .unknown
        }
    }
}

extension WireAuditKind {
    init(_ kind: AuditNote.Kind) {
        switch kind {
        case .paired: self = .paired
        case .pairingFailed: self = .pairingFailed
        case .removed: self = .removed
        case .refused: self = .refused
        case .factoryReset: self = .factoryReset
        case .renamed: self = .renamed
        case .configured: self = .configured
        case .firmware: self = .firmware
        case .roleChanged: self = .roleChanged
        case .invited: self = .invited
        case .codeChanged: self = .codeChanged
        case .keyRotated: self = .keyRotated
        case .lost: self = .lost
        case .reachable: self = .reachable
        case .unreachable: self = .unreachable
        case .unknown: self = .unspecified
        }
    }

    var model: AuditNote.Kind {
        switch self {
        case .paired: .paired
        case .pairingFailed: .pairingFailed
        case .removed: .removed
        case .refused: .refused
        case .factoryReset: .factoryReset
        case .renamed: .renamed
        case .configured: .configured
        case .firmware: .firmware
        case .roleChanged: .roleChanged
        case .invited: .invited
        case .codeChanged: .codeChanged
        case .keyRotated: .keyRotated
        case .lost: .lost
        case .reachable: .reachable
        case .unreachable: .unreachable
        case .unspecified, .UNRECOGNIZED: .unknown
        }
    }
}
