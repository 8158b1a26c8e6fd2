import PlugModel
import PlugTransport

/// Why a plug that is followed is not connected.
public enum Disconnection: Hashable, Sendable, CustomStringConvertible {
    /// Not found, not reached, or the connection ended. The words are for a person.
    case away(String)
    /// Plug and controller have no version of the protocol in common. The words say which of them to update.
    case incompatible(String)
    /// One of both does not know the other, or whoever answers is not the plug that was paired. The words say what to do.
    case distrusted(String)

    /// The plug was set back to factory state, and said so while it still proved the key that was pinned.
    public static let factoryReset = Disconnection.distrusted(
        "the plug was set back to factory state: it knows nobody any more\nhint: pair it again with `plugctl pair --replace`"
    )

    /// Whoever answered has the key of one plug and calls itself another.
    static func distrusted(id: PlugID, expected: PlugID) -> Disconnection {
        .distrusted(
            "it proved the key of plug \(expected) and says that it is \(id)\nhint: pair it anew with `plugctl pair`")
    }

    init(_ reason: EndReason) {
        switch reason {
        case .ended(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .endedByPeer(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .endedByPeer(let goodbye) where goodbye.reason == .notPaired:
            self = .distrusted("the plug does not know this controller any more\nhint: pair again with `plugctl pair`")
        case .endedByPeer(let goodbye) where goodbye.reason == .factoryReset: self = .factoryReset
        case .ended(let goodbye): self = .away(goodbye.detail)
        case .endedByPeer(let goodbye): self = .away("the plug said: \(goodbye.detail)")
        case .connectionLost: self = .away("connection lost")
        }
    }

    /// Of an attempt that failed.
    init(_ error: any Error) {
        switch error {
        case let error as Distrust: self = .distrusted("\(error)")
        case let error as PairedPlugsError: self = .distrusted("\(error)")
        case let error as DialError where error.showsOtherKey:
            self = .distrusted(
                """
                it is not the plug that was paired: its key is another
                hint: if it was set back to factory state, run `plugctl pair --replace`; if not, another device pretends to be it
                """)
        case let error: self = .away("\(error)")
        }
    }

    public var description: String {
        switch self {
        case .away(let words), .incompatible(let words), .distrusted(let words): words
        }
    }
}

extension DialError {
    /// Nobody proved to be the plug, and somebody to be another.
    var showsOtherKey: Bool {
        attempts.contains { attempt in
            guard case .otherKey = attempt.failure else { return false }
            return true
        }
    }
}
