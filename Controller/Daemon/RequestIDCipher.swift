import Crypto
import PlugModel

/// Encrypts the request ids of rules before they are sent to plugs, and decrypts the ids in the plugs' events.
///
/// A rule's request id is derived from the trigger, the rule and the position of the action, so that a restarted
/// process does not execute a command twice. An attacker who knows the rules could compute future ids and let a plug
/// execute them in advance; the rule's command would then have no effect but be reported as done. Plugs therefore
/// receive the id after a permutation of all ids that requires a secret: a Feistel network of four rounds with
/// HMAC-SHA256 (Luby and Rackoff, 1988).
struct RequestIDCipher: Sendable {
    /// The length of the secret in bytes.
    static let secretLength = 32
    private static let rounds: ClosedRange<UInt8> = 0...3

    private let key: SymmetricKey

    /// Uses a stored secret.
    ///
    /// - Parameter secret: ``secretLength`` random bytes that must be the same in each process. Otherwise a repeated
    ///   command is executed twice.
    init(secret: [UInt8]) { key = SymmetricKey(data: secret) }

    /// Uses a random secret, for a process that stores nothing.
    init() { key = SymmetricKey(size: .bits256) }

    /// Returns the id that the plug receives.
    func encrypt(_ id: RequestID) -> RequestID {
        var (left, right) = halves(of: id)
        for round in Self.rounds { (left, right) = (right, left ^ scrambled(right, round)) }
        return whole(left, right)
    }

    /// Returns the rule's id for an id of a plug. An id that another controller chose becomes an id that no rule has.
    func decrypt(_ id: RequestID) -> RequestID {
        var (left, right) = halves(of: id)
        for round in Self.rounds.reversed() { (left, right) = (right ^ scrambled(left, round), left) }
        return whole(left, right)
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

    private func scrambled(_ half: UInt64, _ round: UInt8) -> UInt64 {
        var code = HMAC<SHA256>(key: key)
        code.update(data: [round] + bytes(of: half))
        return code.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func halves(of id: RequestID) -> (UInt64, UInt64) {
        func half(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return (half(id.bytes.prefix(8)), half(id.bytes.dropFirst(8)))
    }

    private func whole(_ left: UInt64, _ right: UInt64) -> RequestID {
        guard let id = RequestID(bytes: bytes(of: left) + bytes(of: right)) else {
            preconditionFailure("two halves are 16 bytes")
        }
        return id
    }

    private func bytes(of half: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
    }
}
