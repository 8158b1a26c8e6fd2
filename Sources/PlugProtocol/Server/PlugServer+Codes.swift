public import PlugModel
internal import ProtocolCore

/// Changes of the setup code: a new code is written to flash, then it becomes valid, then the request is answered.
extension PlugServer {
    struct CodeChange: Sendable {
        let code: SetupCode
        /// The connection of the requesting session, which may have ended. Nil if the plug's local panel requested the
        /// change.
        let asker: ConnectionID?
        let actor: AuditActor
    }

    mutating func changeCode(
        _ wire: WireNewCode, from connection: ConnectionID, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard let code = SetupCode(bytes: wire.code) else {
            throw .length(field: "code", bytes: wire.code.count, allowed: 10...10)
        }
        guard codeChange == nil else {
            return refuse(
                .new_code, Refusal(.busy, "The setup code is being changed; try again."), to: connection)
        }
        begin(CodeChange(code: code, asker: connection, actor: actor(of: connection)), &actions)
    }

    /// Changes the code on request of the plug's local panel. Ignored while another change is in progress.
    mutating func changeCode(_ code: SetupCode, _ actions: inout [Action]) {
        guard codeChange == nil else { return }
        begin(CodeChange(code: code, asker: nil, actor: .panel), &actions)
    }

    /// Completes the change.
    ///
    /// - Parameter refusal: the reason why flash does not contain the code, or nil if it does.
    mutating func endCodeChange(_ refusal: Refusal?) {
        guard let change = takeCodeChange() else { return }
        let asker = change.asker.flatMap { sessions[$0]?.connection }
        guard let refusal else {
            access.code = change.code
            access.invitations.revokeAll()
            add(AuditNote(.codeChanged, by: change.actor))
            if let asker { sessions[asker]?.say { $0.newCode = WireSetupCodeChanged() } }
            return
        }
        if let asker { return refuse(.new_code, refusal, to: asker) }
        let request = AskedRequest.new_code.rawValue
        add(AuditNote(.refused, by: change.actor, isRefused: true, "\(request): \(refusal.code.words)"))
    }

    /// The new code while it is not in flash yet, or nil if no change is in progress.
    public var codeInWriting: SetupCode? { codeChange?.code }
}
