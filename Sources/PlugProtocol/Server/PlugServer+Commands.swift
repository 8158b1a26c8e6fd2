import PlugModel
internal import ProtocolCore

/// Commands of all origins. Sessions and doors share the access table and the ledger.
extension PlugServer {
    /// The origin of a command.
    struct Commander: Sendable {
        /// The name in the causes of events.
        let name: String
        let authority: AuthorityID
        let role: Role
        let actor: AuditActor
    }

    enum Taken {
        case answered(CommandOutcome)
        /// The outcome follows later. `waits`: the waiter was added. `waitsAlready`: it was added by an earlier
        /// request.
        case waits, waitsAlready
        /// The command arrived after its deadline. It is neither executed nor answered.
        case late
    }

    /// Checks a command against the access table and the ledger, and starts it if it is new.
    ///
    /// - Parameters:
    ///   - mayWait: true if the origin may wait for one more outcome.
    ///   - deadline: the time after which a new command is dropped.
    mutating func handle(
        _ command: PlugCommand, _ request: RequestID, of asker: Commander, _ waiter: RequestLedger.Waiter,
        mayWait: Bool, deadline: Instant, now: Instant, _ actions: inout [Action]
    ) -> Taken {
        let asked = AskedRequest(command)
        // The refusal is not stored in the ledger, because the role may change.
        guard asker.role.may(asked) else {
            let refusal = refusal(of: asked, asker.role)
            noteRefusal(of: asker, "\(asked.rawValue): \(refusal.code.words)")
            return .answered(.refused(refusal))
        }
        let id = CommandID(request, of: asker.authority)
        let origin = Asker(actor: asker.actor, command: command)
        switch admit(id, of: origin, from: waiter, mayWait: mayWait, isLate: deadline < now) {
        case .answered(let outcome): return .answered(outcome)
        case .late:
            // An answer would also end the wait for a later copy, which may be in time.
            noteRefusal(of: asker, "command: \(Refusal.Code.deadlinePassed.words)")
            return .late
        case .full:
            // The refusal is not stored in the ledger, so that the command can be retried.
            let busy = Refusal(.busy, "Too many commands are waiting at the plug; try again later.")
            noteRefusal(of: asker, "command: \(busy.code.words)")
            return .answered(.refused(busy))
        case .joinedAgain: return .waitsAlready
        case .joined: return .waits
        case .new:
            actions.append(.perform(id, controller: asker.name, command, deadline: deadline))
            return .waits
        }
    }

    private mutating func noteRefusal(of asker: Commander, _ detail: String) {
        add(AuditNote(.refused, by: asker.actor, isRefused: true, detail))
    }

    /// Handles a command of a door. Its outcome is an ``ShellAction/answer(_:ticket:_:)``.
    mutating func handle(_ asked: DoorCommand, now: Instant, _ actions: inout [Action]) {
        let door = asked.door
        let asker = Commander(name: asked.askerName, authority: door.authority, role: door.role, actor: door.auditActor)
        // Each door limits the number of its waiting commands, so they may wait here.
        let taken = handle(
            asked.command, asked.request, of: asker, .door(door, asked.ticket), mayWait: true,
            deadline: now + max(.zero, asked.within), now: now, &actions)
        if case .answered(let outcome) = taken { actions.append(.shell(.answer(door, ticket: asked.ticket, outcome))) }
    }
}
