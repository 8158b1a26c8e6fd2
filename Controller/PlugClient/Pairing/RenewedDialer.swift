import PlugModel
import PlugTransport
import Synchronization

/// Dials with the current key of the controller. If the key is rotated while the program runs, the next connection uses
/// the new key.
final class RenewedDialer: Sendable {
    private let present: Mutex<(dialer: Dialer, key: PublicKey)>
    private let renewed: @Sendable () -> TransportIdentity?
    private let keyLog: KeyLog?

    /// Creates a dialer that begins with this key.
    ///
    /// - Parameters:
    ///   - identity: The first key.
    ///   - keyLog: Receives the secrets of each connection, for packet traces.
    ///   - renewed: Returns the current key, or nil if it cannot be read; the last key is used then.
    init(_ identity: TransportIdentity, keyLog: KeyLog?, renewed: @escaping @Sendable () -> TransportIdentity?) {
        present = Mutex((Dialer(identity: identity, keyLog: keyLog), identity.publicKey))
        self.renewed = renewed
        self.keyLog = keyLog
    }

    /// The dialer for the next connection, and the public key that it uses.
    var current: (dialer: Dialer, key: PublicKey) {
        let identity = renewed()
        return present.withLock { present in
            if let identity, identity.publicKey != present.key {
                present = (Dialer(identity: identity, keyLog: keyLog), identity.publicKey)
            }
            return present
        }
    }
}
