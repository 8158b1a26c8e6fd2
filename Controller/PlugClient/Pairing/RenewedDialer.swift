import PlugModel
import PlugTransport
import Synchronization

/// Dials with the key that the controller has at that moment: a program that runs while the key is rotated takes the new one with its
/// next connection.
final class RenewedDialer: Sendable {
    private let present: Mutex<(dialer: Dialer, key: PublicKey)>
    private let renewed: @Sendable () -> TransportIdentity?
    private let keyLog: KeyLog?

    /// - Parameter renewed: the key as it is now; nil where nobody can say, and the last one is used.
    init(_ identity: TransportIdentity, keyLog: KeyLog?, renewed: @escaping @Sendable () -> TransportIdentity?) {
        present = Mutex((Dialer(identity: identity, keyLog: keyLog), identity.publicKey))
        self.renewed = renewed
        self.keyLog = keyLog
    }

    /// What to dial with, and the key that it shows.
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
