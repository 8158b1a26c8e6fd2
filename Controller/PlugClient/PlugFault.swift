public import PlugModel

/// The reason why a plug cannot be followed any further. A temporary problem does not throw this error: following
/// continues when the plug or the network returns.
public enum PlugFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Plug and controller have no protocol version in common. The text states which side to update.
    case incompatible(String)
    /// The controller has not paired the plug, the plug has not paired the controller, or the peer is not the paired
    /// plug. The text states what to do.
    case distrusted(String)
    /// Another plug has the name now. Event numbers belong to a plug, so find the new plug with
    /// ``PlugClient/plug(_:within:)``.
    case replaced(name: String, by: PlugID)

    /// The text for the user.
    public var description: String {
        switch self {
        case .incompatible(let words), .distrusted(let words): words
        case .replaced(let name, let id): "a different plug is now called \"\(name)\" (its id is \(id))"
        }
    }
}
