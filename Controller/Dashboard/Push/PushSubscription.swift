import Crypto
import LinuxSystem
import WebPush

/// A browser that receives notifications while the page is closed. The daemon stores it in a file.
struct PushSubscription: Codable, Hashable, Sendable {
    /// The id for users and API, a digest of the address. It is not secret and grants no access.
    let id: String
    /// The address at the push service, which is a secret.
    private let endpoint: String
    private let p256dh: String
    private let auth: String
    /// The description of the browser (``DeviceDescription``).
    let device: String
    /// The start in ISO 8601, UTC.
    let since: String
    /// The user, for the limits of subscriptions.
    let holder: SeatHolder
    /// The ids of the password and the session that must stay valid (``Authorization/entrances``).
    private let entrances: Set<String>

    /// - Parameter body: a body that ``PushBody/checked(listed:)`` accepts.
    init(_ body: PushBody, device: String, of pass: Authorization) {
        id = HexadecimalText.of(SHA256.hash(data: Array(body.endpoint.utf8)).prefix(8))
        (endpoint, p256dh, auth) = (body.endpoint, body.p256dh, body.auth)
        self.device = device
        since = WallTime.now.iso8601()
        (holder, entrances) = (pass.holder, pass.entrances)
    }

    /// Returns true if the password and the session of the user are still valid.
    ///
    /// - Parameter valid: see ``Login/entrances(isLoopback:)``.
    func mayReceive(_ valid: Set<String>) -> Bool { entrances.isSubset(of: valid) }

    /// Returns true if a user may see and end the subscription: an owner may do so with each one, other users with
    /// those of their own password.
    func isVisible(to pass: Authorization) -> Bool { pass.role == .owner || pass.holder == holder }

    /// Returns the checked address and keys; nil if the file or the settings have changed so that they are not valid.
    func destination(listed: Set<String>) -> (endpoint: PushEndpoint, keys: PushReceiverKeys)? {
        guard let endpoint = try? PushEndpoint(endpoint, listed: listed),
            let keys = PushReceiverKeys(p256dh: p256dh, auth: auth)
        else { return nil }
        return (endpoint, keys)
    }

    /// Returns true if the other subscription has the same address, keys and user.
    func isSame(as other: PushSubscription) -> Bool {
        id == other.id && p256dh == other.p256dh && auth == other.auth && holder == other.holder
            && entrances == other.entrances
    }
}

/// The address and the keys are not printed.
extension PushSubscription: CustomStringConvertible, CustomReflectable {
    var description: String { id }
    var customMirror: Mirror { Mirror(self, children: []) }
}
