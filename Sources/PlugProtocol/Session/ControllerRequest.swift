public import PlugModel

/// A request that a controller sends once, in its current session. If the session ends before the answer, the request
/// is lost. A session handles requests after ``ControllerSession/Event/connected``.
public enum ControllerRequest: Hashable, Sendable {
    /// Acknowledge all events up to this one, because every effect has taken place and is stored. Has no answer.
    case acknowledge(SequenceNumber)
    /// List the paired controllers.
    case listControllers
    /// Remove the controller with this key. The answer is the list of the others, unless the controller removed itself.
    case removeController(fingerprint: String)
    /// Change the rights of the controller with this key. The answer is the list of all controllers.
    case setRole(fingerprint: String, Grant)
    /// Invite one controller that knows this code. Answered by ``ControllerAnswer/invited(for:)``.
    case invite(SetupCode, Grant)
    /// List the open invitations.
    case listInvitations
    /// Revoke the invitation with this number. The answer is the list of the others.
    case revokeInvitation(UInt32)
    /// Replace the plug's setup code. Answered by ``ControllerAnswer/codeChanged``.
    case newCode(SetupCode)
    /// List the plug's HomeKit pairings or remove some pairings.
    case manageHomeKit(HomeKitRequest)
    /// List the plug's Matter fabrics, remove one fabric or all fabrics, or open the commissioning window.
    case manageMatter(MatterRequest)
    /// Send a new system to the plug, restart into it, or report the state of the update. Only one request at a time.
    case manageUpdate(UpdateRequest)
    /// Change the networks that the plug joins, open its own one, or report the state. Only one request at a time.
    case manageWiFi(WiFiRequest)
    /// Announce the next key of this controller, with its signature of the ``KeyAnnouncement``. `pendingSignature` is
    /// the signature by a different key that was announced earlier; empty without such a key. Answered by
    /// ``ControllerAnswer/keyAccepted``.
    case announceKey(PublicKey, signature: [UInt8], pendingSignature: [UInt8])
    /// Confirm that the plug's next key is stored. Has no answer.
    case nextKeyKept(PublicKey)
    /// Fetch the entries of the audit log after this number, oldest first. With `limit`, only the newest `limit`
    /// entries. Only one request at a time.
    case fetchAudit(after: UInt64, limit: UInt32?)
    /// Reset the plug to its factory state. The answer is the end of the session.
    case factoryReset
}

/// An answer to a ``ControllerRequest``. Answers may arrive in a different order than the requests: a new setup code,
/// the audit log, HomeKit, Matter and updates are answered when the plug's storage, its HomeKit server or its Matter
/// device has answered.
public enum ControllerAnswer: Hashable, Sendable {
    /// The paired controllers, in the order of their pairing.
    case controllers([PairedControllerEntry])
    /// The plug accepted the invitation. A controller can pair with its code for this duration.
    case invited(for: Duration)
    /// The open invitations, oldest first.
    case invitations([OpenInvitation])
    /// The plug has stored the new setup code.
    case codeChanged
    /// The state of the plug's HomeKit server.
    case homeKit(HomeKitReport)
    /// The state of the plug's Matter device.
    case matter(MatterReport)
    /// The state of the update of the plug's system.
    case update(UpdateReport)
    /// The state of the plug's Wi-Fi.
    case wiFi(WiFiReport)
    /// The plug has stored the next key that this controller announced.
    case keyAccepted
    /// A page of the audit log, or the refusal of a request that was not sent.
    case audit(Result<AuditPage, Refusal>)
    /// The plug refused the request with this name in ControllerMessage.
    case refused(String, Refusal)
}
