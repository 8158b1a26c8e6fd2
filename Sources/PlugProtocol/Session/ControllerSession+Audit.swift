import PlugModel
internal import ProtocolCore

extension ControllerSession {
    /// Requests a page of the audit log. A plug without the capability would ignore the request, so the request is
    /// refused locally.
    mutating func fetchAudit(after: UInt64, limit: UInt32?, _ actions: inout [Action]) {
        guard case .established(let plug) = phase else {
            wantedAudit = (after, limit)
            return
        }
        guard plug.capabilities.contains(.audit) else {
            let refusal = Refusal(.unsupported, "This plug keeps no audit log; its firmware may be too old.")
            return actions.append(.deliver(.answer(.audit(.failure(refusal)))))
        }
        guard auditAfter == nil else {
            let refusal = Refusal(.busy, "The audit log is already being fetched.")
            return actions.append(.deliver(.answer(.audit(.failure(refusal)))))
        }
        auditAfter = after
        say {
            $0.fetchAudit.after = after
            $0.fetchAudit.limit = limit ?? 0
        }
    }
}
