/// The setup code of a plug after a factory reset.
public enum CodeAfterReset: String, Hashable, Sendable, CaseIterable {
    /// The code on the label, even if it was replaced by a different one.
    case label
    /// A new random code, for plugs whose label other people can read.
    case new
}
