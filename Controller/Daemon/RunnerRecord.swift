public import Automation
public import LinuxClocks

/// What the running rules have to tell, and when it was.
public struct RunnerRecord: Sendable {
    public var at: WallTime
    public var notice: HouseNotice

    public init(at: WallTime, notice: HouseNotice) {
        self.at = at
        self.notice = notice
    }
}
