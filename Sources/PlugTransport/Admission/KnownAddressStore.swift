/// The stored addresses of paired controllers. With them a plug that restarts during a flood of connections still
/// admits its controllers. An address alone grants no access.
public struct KnownAddressStore: Sendable {
    /// The addresses that an earlier run stored.
    let known: [String]
    /// Stores the addresses. Called on the listener's event loop when they change.
    let keep: @Sendable ([String]) -> Void

    /// Creates a store from the stored addresses and a function that stores new ones.
    public init(known: [String] = [], keep: @escaping @Sendable ([String]) -> Void = { _ in }) {
        self.known = known
        self.keep = keep
    }
}
