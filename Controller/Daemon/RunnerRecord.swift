public import DurableRules
public import LinuxSystem

/// A notice of the running rules with its time.
public struct RunnerRecord: Sendable {
    /// The time of the notice.
    public var at: WallTime
    /// The notice.
    public var notice: RuleNotice

    /// Creates a record from its parts.
    public init(at: WallTime, notice: RuleNotice) {
        self.at = at
        self.notice = notice
    }
}
