public import Automation
public import Daemon
public import PlugClient

/// The house as it is now, and who watches it.
public actor LiveBoard: HouseAudience {
    public init(rules: [Rule]) {}

    public func take(_ update: HouseFollower.Update) async {}
    public func note(_ record: RunnerRecord) async {}
}
