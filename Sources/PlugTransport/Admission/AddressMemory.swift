/// The addresses from which paired controllers came, and where they are kept: a plug whose firmware starts again in the middle of
/// a flood goes on to have room for them. Nobody is let in for his address.
public struct AddressMemory: Sendable {
    /// As an earlier start kept them.
    let known: [String]
    /// Called on the listener's event loop, whenever there is another one.
    let keep: @Sendable ([String]) -> Void

    public init(known: [String] = [], keep: @escaping @Sendable ([String]) -> Void = { _ in }) {
        self.known = known
        self.keep = keep
    }
}
