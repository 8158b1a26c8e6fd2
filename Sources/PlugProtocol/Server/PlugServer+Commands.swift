import PlugModel
internal import ProtocolCore

/// Commands, whoever asks for them: the table of rights and the ledger are the same for all.
extension PlugServer {
    /// In whose name a command is carried out.
    struct Commander: Sendable {
        /// As the cause of an event tells it.
        let name: String
        let authority: AuthorityID
        let role: Role
        let actor: AuditActor
    }

    enum Taken {
        case answered(CommandOutcome)
        /// The outcome comes later. It waits for it now, or did before.
        case waits, waitsAlready
    }

    /// - Parameter mayWait: whether who asks may wait for another outcome.
    mutating func take(
        _ command: PlugCommand, _ request: RequestID, of asker: Commander, _ waiter: RequestLedger.Waiter,
        mayWait: Bool, deadline: Instant, _ actions: inout [Action]
    ) -> Taken {
        let asked = AskedRequest(command)
        // Not remembered either: the role may change.
        guard asker.role.may(asked) else {
            let refusal = refusal(of: asked, asker.role)
            noteRefusal(of: asker, "\(asked.rawValue): \(refusal.code.words)")
            return .answered(.refused(refusal))
        }
        let id = CommandID(request, of: asker.authority)
        switch requests.admit(id, from: waiter, mayWait: mayWait, state: state) {
        case .answered(let outcome): return .answered(outcome)
        case .full:
            // Not remembered as the request's answer: it may be sent again.
            let busy = Refusal(.busy, "Too many commands wait at the plug; send it again later.")
            noteRefusal(of: asker, "command: \(busy.code.words)")
            return .answered(.refused(busy))
        case .joinedAgain: return .waitsAlready
        case .joined: return .waits
        case .new:
            askers[id] = Asker(actor: asker.actor, command: command)
            actions.append(.perform(id, controller: asker.name, command, deadline: deadline))
            return .waits
        }
    }

    private mutating func noteRefusal(of asker: Commander, _ detail: String) {
        notes.append(AuditNote(.refused, by: asker.actor, isRefused: true, detail))
    }

    /// A command that came through a door; its outcome is an ``Action/answer(_:ticket:_:)``.
    mutating func take(_ asked: DoorCommand, now: Instant, _ actions: inout [Action]) {
        let door = asked.door
        let asker = Commander(name: asked.askerName, authority: door.authority, role: door.role, actor: door.auditActor)
        let taken = take(
            asked.command, asked.request, of: asker, .door(door, asked.ticket), mayWait: true,
            deadline: now + asked.within,
            &actions)
        // The door limits how many wait.
        if case .answered(let outcome) = taken { actions.append(.answer(door, ticket: asked.ticket, outcome)) }
    }
}
