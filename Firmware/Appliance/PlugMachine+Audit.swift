import PlugModel
import PlugProtocol
import ProtocolCore

/// Records entries in the audit log and schedules its writes to flash.
extension PlugMachine {
    /// Adds an audit entry for an action that users may want to look up later.
    mutating func note(
        _ kind: AuditNote.Kind, by actor: AuditActor, isRefused: Bool = false, _ detail: String = "", _ now: Instant
    ) {
        let boot = identity.boot
        audit?.record(AuditNote(kind, by: actor, isRefused: isRefused, detail), boot: boot, now: now)
    }

    mutating func beginAudit(_ now: Instant) {
        let identity = identity
        audit?.begin(firmware: identity.firmware, boot: identity.boot, now: now)
    }

    /// Records the audit notes that the server created for its last event.
    mutating func noteAnswers(_ now: Instant) {
        guard !server.notes.isEmpty else { return }
        let boot = identity.boot
        for note in server.notes { audit?.record(note, boot: boot, now: now) }
    }

    /// Records a new name or changed settings. Commands without effect are not recorded, because a client can repeat
    /// them without limit.
    mutating func note(_ command: PlugCommand, of id: CommandID, before: StoredSettings, _ now: Instant) {
        guard settings != before else { return }
        let actor = server.asker(of: id) ?? .unknown
        if case .rename(let name) = command {
            note(.renamed, by: actor, "\(before.name ?? identity.name) to \(name)", now)
        } else {
            note(.configured, by: actor, settings.changes(from: before), now)
        }
    }

    /// Records each place at which hosts on the internet can connect from now on, or no longer.
    mutating func note(_ reachability: [Reachability], before: [Reachability], _ now: Instant) {
        let (places, former) = (reachability.compactMap(\.publicPlace), before.compactMap(\.publicPlace))
        for place in former where !places.contains(place) { note(.unreachable, by: .plug, place, now) }
        for place in places where !former.contains(place) { note(.reachable, by: .plug, place, now) }
    }

    mutating func askForReset(by actor: AuditActor, _ step: inout Step) {
        step.asksForReset = actor
        resetBy = actor
    }

    mutating func noteFailedReset(_ now: Instant) {
        note(.factoryReset, by: server.resetAsker ?? resetBy, isRefused: true, "flash cannot be written", now)
    }

    mutating func answerAudit(_ id: ConnectionID, after: UInt64, limit: Int?, _ now: Instant, _ step: inout Step) {
        let page = audit?.page(after: after, limit: limit) ?? AuditPage([], isLast: true)
        serve(.audit(id, page), now, &step)
    }

    mutating func writeAudit(_ now: Instant, _ step: inout Step) {
        guard !isStopped, let write = audit?.nextWrite(now: now) else { return }
        step.audit = write
    }
}

extension StoredSettings {
    /// Describes each changed setting: `auto-off 600 s, before: as configured`.
    fileprivate func changes(from before: StoredSettings) -> String {
        let seconds = { (duration: Duration?) in duration.map { "\($0.components.seconds) s" } }
        let watts = { (limit: UInt32?) in limit.map { "\($0 / 10) W" } }
        let switched = { (isOn: Bool?) in isOn.map { $0 ? "on" : "off" } }
        let fields: [(String, String?, String?)] = [
            ("power-on", powerOn?.rawValue, before.powerOn?.rawValue),
            ("auto-off", seconds(autoOff), seconds(before.autoOff)),
            ("power-limit", watts(powerLimit), watts(before.powerLimit)),
            ("child-lock", switched(childLock), switched(before.childLock)),
            ("light-off", lightOff?.description, before.lightOff?.description),
        ]
        let changed = fields.filter { $0.1 != $0.2 }.map { field in
            "\(field.0) \(field.1 ?? "as configured"), before: \(field.2 ?? "as configured")"
        }
        return changed.joined(separator: "; ")
    }
}
