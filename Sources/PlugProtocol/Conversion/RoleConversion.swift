import PlugModel
internal import ProtocolCore

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

    /// The role, or nil for a role of a later version and for firmware without roles.
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

extension WireOpenInvitation {
    init(_ invitation: Invitations.Invitation, author: String, isOwn: Bool, now: Instant) {
        self.init()
        number = invitation.number
        role = WireRole(invitation.grant.role)
        if let seconds = invitation.grant.seconds { self.seconds = seconds }
        secondsLeft = UInt32(clamping: max(0, (invitation.until - now).components.seconds))
        self.author = author
        own = isOwn
    }

    func model() throws(MessageFault) -> OpenInvitation {
        OpenInvitation(
            number: number, role: role.model, seconds: hasSeconds ? seconds : nil, secondsLeft: secondsLeft,
            author: try WireScalar.name(author, "author"), isOwn: own)
    }
}

extension WireInvitations {
    func model() throws(MessageFault) -> [OpenInvitation] {
        let limit = Invitations.limit
        guard invitations.count <= limit else {
            throw .outOfRange(field: "invitations", value: Int64(invitations.count), allowed: 0...Int64(limit))
        }
        var models: [OpenInvitation] = []
        for wire in invitations { models.append(try wire.model()) }
        return models
    }
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
