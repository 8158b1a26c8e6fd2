import PlugProtocol
import ProtocolCore
import SimulatedDisk
import SimulatedLAN

/// A plug, or a controller of one of two kinds.
enum HouseHost: SimulatedHost {
    typealias Stimulus = HouseStimulus

    case plug(SimulatedPlug)
    case follower(FollowingController)
    case ruler(RulingController)

    mutating func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch self {
        case .plug(let plug): plug.handle(event, now: now)
        case .follower(let controller): controller.handle(event, now: now)
        case .ruler(let controller): controller.handle(event, now: now)
        }
    }

    var nextDeadline: Instant? {
        switch self {
        case .plug(let plug): plug.nextDeadline
        case .follower(let controller): controller.nextDeadline
        case .ruler(let controller): controller.nextDeadline
        }
    }
}

/// What a test does to a host of the house.
enum HouseStimulus: Sendable {
    /// A finger on the plug's button.
    case press
    /// The plug's load takes other power, tenths of a watt.
    case load(Int32)
    /// The plug's disk fails in this way from now on.
    case disk(SimulatedDisk.Area, SimulatedDisk.Faults)
    /// The plug's flash spoils what it keeps under this name.
    case corrupt(String)
    /// The plug breaks down after so many steps of its disk; see ``SimulatedDisk/SimulatedDisk/breakDown(_:afterSteps:)``.
    case diskBreaksDown(SimulatedDisk.Breakdown, afterSteps: Int)
    /// The same, counted from the next start of its process.
    case nextStartBreaksDown(SimulatedDisk.Breakdown, afterSteps: Int)
    /// Somebody at the controller asks for this.
    case command(on: Bool)
    /// The controller fetches the samples that it does not have yet.
    case fetchSamples
    /// The controller's process is killed when it has received so many more updates and stored all but the last.
    case killBeforeStore(Int)
}
