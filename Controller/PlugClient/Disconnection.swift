import PlugProtocol

/// Why a plug that is followed is not connected.
public enum Disconnection: Hashable, Sendable, CustomStringConvertible {
    /// Not found, not reached, or the connection ended. The words are for a person.
    case away(String)
    /// Plug and controller have no version of the protocol in common. The words say which of them to update.
    case incompatible(String)

    init(_ reason: EndReason) {
        switch reason {
        case .ended(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .endedByPeer(let goodbye) where goodbye.reason == .version: self = .incompatible(goodbye.detail)
        case .ended(let goodbye): self = .away(goodbye.detail)
        case .endedByPeer(let goodbye): self = .away("the plug said: \(goodbye.detail)")
        case .connectionLost: self = .away("connection lost")
        }
    }

    public var description: String {
        switch self {
        case .away(let words), .incompatible(let words): words
        }
    }
}
