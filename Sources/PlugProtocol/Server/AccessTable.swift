package import PlugModel

/// A request of a controller, named as in the .proto: a message of ControllerMessage, or a kind of Command.
package enum AskedRequest: String, CaseIterable, Sendable {
    case hello, subscribe, acknowledge, command, fetch_samples, ping, pong, goodbye, pairing_request, pairing_proof
    case list_controllers, remove_controller, factory_reset, follow_log, invite, set_role, fetch_audit, new_code
    case announce_key, next_key_kept, manage_homekit, list_invitations, revoke_invitation, manage_matter
    case manage_update, manage_wifi
    case set_relay, set_level, identify, reset_protection, rename, configure
}

extension Role {
    /// Returns true if the role permits the request. This is the complete access table; no other code grants rights.
    ///
    /// A controller needs no right to remove itself. Restrictions on the content of a message are checked where the
    /// message is handled.
    package func may(_ request: AskedRequest) -> Bool {
        switch (request, self) {
        // The session and pairing.
        case (.hello, _), (.ping, _), (.pong, _), (.goodbye, _), (.pairing_request, _), (.pairing_proof, _): true
        // The kind of the command decides.
        case (.command, _): true
        // Every controller may replace its own key and confirm the plug's next key.
        case (.announce_key, _), (.next_key_kept, _): true
        case (.subscribe, _), (.acknowledge, _), (.fetch_samples, _): true
        case (.set_relay, .owner), (.set_relay, .user), (.set_relay, .guest): true
        case (.set_level, .owner), (.set_level, .user), (.set_level, .guest): true
        case (.identify, .owner), (.identify, .user), (.identify, .guest): true
        case (.reset_protection, .owner), (.reset_protection, .user), (.reset_protection, .guest): true
        case (.set_relay, .viewer), (.set_level, .viewer), (.identify, .viewer), (.reset_protection, .viewer): false
        case (.rename, let role), (.configure, let role), (.list_controllers, let role), (.remove_controller, let role),
            (.factory_reset, let role), (.follow_log, let role), (.invite, let role), (.set_role, let role),
            (.fetch_audit, let role), (.new_code, let role), (.manage_homekit, let role), (.list_invitations, let role),
            (.revoke_invitation, let role), (.manage_matter, let role), (.manage_update, let role),
            (.manage_wifi, let role):
            role == .owner
        }
    }
}

extension AskedRequest {
    /// The number of writes to flash that a request causes each time. ``FlashBudget`` limits them. AnnounceKey and
    /// NextKeyKept write only if they change something. SetRelay and SetLevel cause writes at a limited rate in total.
    /// NewCode, Rename and Configure have their own limits. Requests about updates and Wi-Fi count if they change something.
    var writes: Int {
        switch self {
        case .remove_controller, .set_role: PeerBudgets.writesOfRightsChange
        case .invite, .manage_homekit, .manage_matter: 1
        case .hello, .subscribe, .acknowledge, .command, .fetch_samples, .ping, .pong, .goodbye, .pairing_request,
            .pairing_proof, .list_controllers, .factory_reset, .new_code, .follow_log, .fetch_audit, .announce_key,
            .next_key_kept, .list_invitations, .revoke_invitation, .manage_update, .manage_wifi, .set_relay,
            .set_level, .identify, .reset_protection, .rename, .configure:
            0
        }
    }

    init(_ kind: WireControllerMessage.OneOf_Kind) {
        self =
            switch kind {
            case .hello: .hello
            case .subscribe: .subscribe
            case .acknowledge: .acknowledge
            case .command: .command
            case .fetchSamples: .fetch_samples
            case .ping: .ping
            case .pong: .pong
            case .goodbye: .goodbye
            case .pairingRequest: .pairing_request
            case .pairingProof: .pairing_proof
            case .listControllers: .list_controllers
            case .removeController: .remove_controller
            case .factoryReset: .factory_reset
            case .followLog: .follow_log
            case .invite: .invite
            case .setRole: .set_role
            case .fetchAudit: .fetch_audit
            case .newCode: .new_code
            case .manageHomekit: .manage_homekit
            case .manageMatter: .manage_matter
            case .manageUpdate: .manage_update
            case .manageWifi: .manage_wifi
            case .announceKey: .announce_key
            case .nextKeyKept: .next_key_kept
            case .listInvitations: .list_invitations
            case .revokeInvitation: .revoke_invitation
            }
    }

    /// The request for the kind of a command.
    package init(_ command: PlugCommand) {
        self =
            switch command {
            case .setRelay: .set_relay
            case .setLevel: .set_level
            case .identify: .identify
            case .resetProtection: .reset_protection
            case .rename: .rename
            case .configure: .configure
            }
    }

    /// The action for a user, to follow "may not".
    var described: String {
        switch self {
        case .hello, .ping, .pong, .goodbye, .command: "use the connection"
        case .pairing_request, .pairing_proof: "pair"
        case .subscribe, .acknowledge: "follow the plug"
        case .fetch_samples: "fetch samples"
        case .list_controllers: "list the paired controllers"
        case .remove_controller: "remove another controller"
        case .factory_reset: "reset the plug"
        case .follow_log: "follow the plug's log"
        case .invite: "invite users"
        case .list_invitations: "list invitations"
        case .revoke_invitation: "revoke invitations"
        case .set_role: "change roles"
        case .fetch_audit: "read the audit log"
        case .new_code: "change the setup code"
        case .manage_homekit: "manage HomeKit"
        case .manage_matter: "manage Matter"
        case .manage_update: "update the plug"
        case .manage_wifi: "change the plug's Wi-Fi"
        case .next_key_kept: "store the plug's next key"
        case .announce_key: "announce a new key"
        case .set_relay: "switch the plug"
        case .set_level: "dim the plug"
        case .identify: "identify the plug"
        case .reset_protection: "reset the plug's protection"
        case .rename: "rename the plug"
        case .configure: "change the plug's settings"
        }
    }
}
