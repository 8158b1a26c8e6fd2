import PlugModel
import ProtocolCore
import SimulatedDisk
import SimulatedLAN

/// A plug, a controller of one of three kinds, or somebody at a plug's door.
enum HouseHost: SimulatedHost {
    typealias Stimulus = HouseStimulus

    case plug(SimulatedPlug)
    case follower(FollowingController)
    case ruler(RulingController)
    case recorder(RecordingController)
    case caller(Caller)
    case intermediary(Intermediary)
    case hostilePlug(HostilePlug)
    case former(FormerController)
    case stranger(Stranger)

    mutating func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch self {
        case .plug(let plug): plug.handle(event, now: now)
        case .follower(let controller): controller.handle(event, now: now)
        case .ruler(let controller): controller.handle(event, now: now)
        case .recorder(let controller): controller.handle(event, now: now)
        case .caller(let caller): caller.handle(event, now: now)
        case .intermediary(let intermediary): intermediary.handle(event, now: now)
        case .hostilePlug(let plug): plug.handle(event, now: now)
        case .former(let controller): controller.handle(event, now: now)
        case .stranger(let stranger): stranger.handle(event, now: now)
        }
    }

    var nextDeadline: Instant? {
        switch self {
        case .plug(let plug): plug.nextDeadline
        case .follower(let controller): controller.nextDeadline
        case .ruler(let controller): controller.nextDeadline
        case .recorder(let controller): controller.nextDeadline
        case .caller(let caller): caller.nextDeadline
        case .hostilePlug(let plug): plug.nextDeadline
        case .former(let controller): controller.nextDeadline
        case .intermediary, .stranger: nil
        }
    }
}

/// What a test does to a host of the house.
enum HouseStimulus: Sendable {
    /// A finger on the plug's button.
    case press
    /// A finger that stays on it.
    case hold
    /// A finger that stays on it until the plug is set back to factory state.
    case holdForReset
    /// The plug's load takes other power, tenths of a watt.
    case load(Int32)
    /// The plug's disk fails in this way from now on.
    case disk(SimulatedDisk.Area, SimulatedDisk.Faults)
    /// The plug's flash takes so long for a write from now on.
    case flashTakes(ClosedRange<Duration>)
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
    /// The caller connects to the plug and does what it does.
    case call
    /// The caller, where it is let in, has the plug forget the owner of this key.
    case remove(PublicKey)
    /// The caller, where it is let in, has the plug set back to factory state.
    case reset
    /// The controller's process is killed when it has received so many more updates and stored all but the last.
    case killBeforeStore(Int)
}
