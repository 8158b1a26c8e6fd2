import PlugModel
import PlugTransport

/// The reason why a followed plug is not connected.
public enum Disconnection: Hashable, Sendable, CustomStringConvertible {
    /// The plug was not found or not reached, or the connection ended. The text is for the user.
    case away(String)
    /// Plug and controller have no protocol version in common. The text states which side to update.
    case incompatible(String)
    /// The controller has not paired the plug, the plug has not paired the controller, or the peer is not the paired
    /// plug. The text states what to do.
    case distrusted(String)

    /// The plug was reset to factory state. It reported the reset on a connection on which it proved its pinned key.
    public static let factoryReset = Disconnection.distrusted(
        "the plug was reset to factory state and has no pairings\nhint: pair it again with `plugctl pair --replace`"
    )

    /// The peer proved the key of one plug but states the id of another.
    static func distrusted(id: PlugID, expected: PlugID) -> Disconnection {
        .distrusted(
            "the plug has the key of plug \(expected) but reports the id \(id)\nhint: pair it again with `plugctl pair`"
        )
    }

    /// Translates the reason that a session reported for its end.
    init(_ reason: EndReason) {
        switch reason {
        case .ended(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .endedByPeer(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .endedByPeer(let goodbye) where goodbye.reason == .notPaired:
            self = .distrusted(
                "the plug is no longer paired with this controller\nhint: pair again with `plugctl pair`")
        case .endedByPeer(let goodbye) where goodbye.reason == .factoryReset: self = .factoryReset
        case .ended(let goodbye): self = .away(goodbye.detail)
        case .endedByPeer(let goodbye): self = .away("the plug closed the connection: \(goodbye.detail)")
        case .connectionLost: self = .away("connection lost")
        }
    }

    /// Translates the error of a failed connection attempt.
    init(_ error: any Error) {
        switch error {
        case let error as PairingMismatch: self = .distrusted("\(error)")
        case let error as PairedPlugsError: self = .distrusted("\(error)")
        case let error as DialError where error.showsOtherKey:
            self = .distrusted(
                """
                the device has a different key than the paired plug
                hint: if the plug was reset to factory state, run `plugctl pair --replace`; if not, another device pretends to be it
                """)
        case let error: self = .away("\(error)")
        }
    }

    /// The text for the user.
    public var description: String {
        switch self {
        case .away(let words), .incompatible(let words), .distrusted(let words): words
        }
    }
}

extension DialError {
    /// True if a peer proved a key, and no peer proved the expected one.
    var showsOtherKey: Bool {
        attempts.contains { attempt in
            guard case .otherKey = attempt.failure else { return false }
            return true
        }
    }
}
