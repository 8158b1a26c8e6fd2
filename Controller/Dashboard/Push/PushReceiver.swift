import Crypto
import Effects
import LinuxSystem
import WebPush

/// Sends notifications to one browser through its push service.
struct PushReceiver: NotificationReceiver {
    /// The time limit until the push service has answered.
    private static let timeout = Duration.seconds(15)
    /// The time in seconds for which the push service keeps a message for a device that is away.
    private static let timeToLive = 86_400
    private static let saltSize = 16

    let endpoint: PushEndpoint
    let keys: PushReceiverKeys
    let key: ApplicationServerKey
    let contact: String
    /// A file with the trusted authorities; nil for those of the system.
    let authority: String?
    /// Called when the push service reports that the subscription has ended.
    let ended: @Sendable () async -> Void

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000_000
        guard
            let body = keys.encrypt(
                PushPayload(notification).bytes, paddedTo: PushPayload.limit, salt: salt,
                sender: P256.KeyAgreement.PrivateKey()),
            let authorization = key.authorization(for: endpoint, contact: contact, now: now),
            let fields = PushFields(timeToLive: Self.timeToLive, urgency: .high, topic: notification.event.id)
        else { throw NotificationFault("the message cannot be encrypted") }
        do throws(WebClient.Fault) {
            let client = try WebClient(to: endpoint.url, authority: authority)
            try await client.send(body, fields: fields.fields(authorization: authorization), within: Self.timeout)
        } catch {
            guard let status = error.status else {
                throw NotificationFault("\(endpoint): \(error.words)", isRetryable: error.isRetryable)
            }
            // RFC 8030 section 7.3: the subscription has expired or was ended.
            if status == 404 || status == 410 { await ended() }
            // The text of the answer is not reported, because it may contain the address.
            throw NotificationFault(
                "\(endpoint): status \(status)", isRetryable: error.isRetryable, retryAfter: error.retryAfter)
        }
    }
}
