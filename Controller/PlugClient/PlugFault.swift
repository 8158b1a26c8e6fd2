public import PlugModel

/// Why a plug cannot be followed any further. Everything that can pass (a plug that is away, a network that is down) is waited
/// out and is none of these.
public enum PlugFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Plug and controller have no version of the protocol in common; the words say which of them to update.
    case incompatible(String)
    /// One of both does not know the other, or whoever answers is not the plug that was paired; the words say what to do.
    case distrusted(String)
    /// Another plug bears the name now. Event numbers belong to a plug: find the new one by ``PlugClient/plug(_:within:)``.
    case replaced(name: String, by: PlugID)

    public var description: String {
        switch self {
        case .incompatible(let words), .distrusted(let words): words
        case .replaced(let name, let id): "another plug is called \"\(name)\" now (its id is \(id))"
        }
    }
}
