import Crypto
import PlugModel

/// Gives plugs other request ids than the rules use, and finds those of the rules back in what plugs tell.
///
/// An id of the rules follows from edge, rule and place, so that a process that goes on after another one commands nothing twice.
/// Whoever knows the rules could work out the ids to come, and have a plug answer them in advance: the rule would do nothing and be
/// told that it is done. What plugs see is therefore the id under a permutation of all ids that only the owner of a secret can
/// compute: a Feistel network of four rounds with HMAC-SHA256 (Luby and Rackoff, 1988).
struct RequestVeil: Sendable {
    static let secretLength = 32
    private static let rounds: ClosedRange<UInt8> = 0...3

    private let key: SymmetricKey

    /// - Parameter secret: ``secretLength`` random bytes that outlive the process, or a command that is sent again is carried out again.
    init(secret: [UInt8]) { key = SymmetricKey(data: secret) }

    /// Of a process that keeps nothing.
    init() { key = SymmetricKey(size: .bits256) }

    /// The id that the plug gets.
    func veiled(_ id: RequestID) -> RequestID {
        var (left, right) = halves(of: id)
        for round in Self.rounds { (left, right) = (right, left ^ scrambled(right, round)) }
        return whole(left, right)
    }

    /// The id of the rules that a plug got as this one. Of what somebody else commanded it is one that no rule has.
    func unveiled(_ id: RequestID) -> RequestID {
        var (left, right) = halves(of: id)
        for round in Self.rounds.reversed() { (left, right) = (right ^ scrambled(left, round), left) }
        return whole(left, right)
    }

    /// What a plug tells, with the ids of the rules.
    func unveiled(_ event: PlugEvent) -> PlugEvent {
        var event = event
        switch event.kind {
        case .relayChanged(let on, .controller(let name, let request, let authority)):
            let cause = RelayCause.controller(name: name, request: unveiled(request), authority: authority)
            event.kind = .relayChanged(on: on, cause: cause)
        case .protectionReset(let protection, .controller(let name, let request, let authority)):
            let cause = RelayCause.controller(name: name, request: unveiled(request), authority: authority)
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
