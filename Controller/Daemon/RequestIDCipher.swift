import Crypto
import CryptoExtras
import PlugModel

/// Encrypts the request ids of rules before they are sent to plugs, and decrypts the ids in the plugs' events.
///
/// A rule's request id is derived from the trigger, the rule and the position of the action, so that a restarted
/// process does not execute a command twice. An attacker who knows the rules could compute future ids and let a plug
/// execute them in advance; the rule's command would then have no effect but be reported as done. Plugs therefore
/// receive the id encrypted with AES-256. An id is exactly one block, and no two commands have the same id, so that a
/// mode of operation and a nonce are not needed.
struct RequestIDCipher: Sendable {
    /// The length of the secret in bytes: a key of AES-256.
    static let secretLength = 32

    private let key: SymmetricKey

    /// Uses a stored secret.
    ///
    /// - Parameter secret: ``secretLength`` random bytes that must be the same in each process. Otherwise a repeated
    ///   command is executed twice.
    init(secret: [UInt8]) {
        precondition(secret.count == Self.secretLength, "a secret of \(secret.count) bytes")
        key = SymmetricKey(data: secret)
    }

    /// Uses a random secret, for a process that stores nothing.
    init() { key = SymmetricKey(size: .bits256) }

    /// Returns the id that the plug receives.
    func encrypt(_ id: RequestID) -> RequestID {
        transformed(id) { (block: inout [UInt8]) throws in try AES.permute(&block, key: key) }
    }

    /// Returns the rule's id for an id of a plug. An id that another controller chose becomes an id that no rule has.
    func decrypt(_ id: RequestID) -> RequestID {
        transformed(id) { (block: inout [UInt8]) throws in try AES.inversePermute(&block, key: key) }
    }

    /// Returns the event with its request id decrypted, or unchanged if it has none.
    func decrypt(_ event: PlugEvent) -> PlugEvent {
        var event = event
        switch event.kind {
        case .relayChanged(let on, .controller(let name, let request, let authority)):
            let cause = RelayCause.controller(name: name, request: decrypt(request), authority: authority)
            event.kind = .relayChanged(on: on, cause: cause)
        case .protectionReset(let protection, .controller(let name, let request, let authority)):
            let cause = RelayCause.controller(name: name, request: decrypt(request), authority: authority)
            event.kind = .protectionReset(protection, cause: cause)
        case .relayChanged, .buttonPressed, .protectionTripped, .protectionReset, .restarted, .pairingFailed,
            .controllerPaired, .controllerRemoved:
            break
        }
        return event
    }

    private func transformed(_ id: RequestID, _ transform: (inout [UInt8]) throws -> Void) -> RequestID {
        var block = id.bytes
        // AES fails only if the lengths of key or block are wrong.
        guard (try? transform(&block)) != nil, let transformed = RequestID(bytes: block) else {
            preconditionFailure("an id of \(block.count) bytes")
        }
        return transformed
    }
}
