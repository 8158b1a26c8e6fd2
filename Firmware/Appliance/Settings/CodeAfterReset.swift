/// Which setup code a plug has after a factory reset.
public enum CodeAfterReset: String, Hashable, Sendable, CaseIterable {
    /// That of its label, also where another had taken its place.
    case label
    /// One that is drawn then: for plugs whose labels others can read.
    case new
}
