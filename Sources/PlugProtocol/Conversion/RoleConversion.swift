import PlugModel

extension WireRole {
    init(_ role: Role) {
        self =
            switch role {
            case .owner: .owner
            case .user: .user
            case .viewer: .viewer
            case .guest: .guest
            }
    }

    /// Nil for a role of a later version, and from firmware that knows none.
    var model: Role? {
        switch self {
        case .owner: .owner
        case .user: .user
        case .viewer: .viewer
        case .guest: .guest
        case .unspecified, .UNRECOGNIZED: nil
        }
    }

    fileprivate func grant(seconds: UInt32?) -> Result<Grant, Refusal> {
        guard let role = model else { return .failure(Refusal(.unsupported, "This plug does not know the role.")) }
        do throws(GrantError) {
            return .success(try Grant(role, seconds: seconds))
        } catch {
            return .failure(Refusal(.outOfRange, "\(error)"))
        }
    }
}

extension WireInvite {
    init(_ code: SetupCode, _ grant: Grant) {
        self.init()
        self.code = .init(code.bytes)
        role = WireRole(grant.role)
        if let seconds = grant.seconds { self.seconds = seconds }
    }

    var grant: Result<Grant, Refusal> { role.grant(seconds: hasSeconds ? seconds : nil) }
}

extension WireSetRole {
    init(_ fingerprint: String, _ grant: Grant) {
        self.init()
        self.fingerprint = fingerprint
        role = WireRole(grant.role)
        if let seconds = grant.seconds { self.seconds = seconds }
    }

    var grant: Result<Grant, Refusal> { role.grant(seconds: hasSeconds ? seconds : nil) }
}
