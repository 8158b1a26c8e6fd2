public import PlugModel
internal import ProtocolCore

/// Another setup code: first flash has it, then it holds, and who asked is told.
extension PlugServer {
    struct CodeChange: Sendable {
        let code: SetupCode
        /// Nil: somebody at the plug's own machine, or a controller that has gone since.
        var asker: ConnectionID?
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
                .new_code, Refusal(.busy, "The setup code is being changed already; try again."), to: connection)
        }
        codeChange = CodeChange(code: code, asker: connection, actor: actor(of: connection))
        actions.append(.keepCode(code))
    }

    /// Somebody at the plug's own machine changes it. Nothing where it is being changed already.
    mutating func changeCode(_ code: SetupCode, _ actions: inout [Action]) {
        guard codeChange == nil else { return }
        codeChange = CodeChange(code: code, asker: nil, actor: .panel)
        actions.append(.keepCode(code))
    }

    /// - Parameter refusal: why flash does not have it; nil: it does.
    mutating func endCodeChange(_ refusal: Refusal?) {
        guard let change = codeChange.take() else { return }
        let asker = change.asker.flatMap { sessions[$0]?.connection }
        guard let refusal else {
            access.code = change.code
            access.invitations.revokeAll()
            notes.append(AuditNote(.codeChanged, by: change.actor))
            if let asker { sessions[asker]?.say { $0.newCode = WireSetupCodeChanged() } }
            return
        }
        if let asker { return refuse(.new_code, refusal, to: asker) }
        let request = AskedRequest.new_code.rawValue
        notes.append(AuditNote(.refused, by: change.actor, isRefused: true, "\(request): \(refusal.code.words)"))
    }

    /// The code that is about to be the plug's, while it is not in flash.
    public var codeInWriting: SetupCode? { codeChange?.code }
}
