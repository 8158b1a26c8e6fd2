public import Automation
public import LinuxClocks

/// A notice of the running rules with its time.
public struct RunnerRecord: Sendable {
    /// The time of the notice.
    public var at: WallTime
    /// The notice.
    public var notice: HouseNotice

    /// Creates a record from its parts.
    public init(at: WallTime, notice: HouseNotice) {
        self.at = at
        self.notice = notice
    }
}
