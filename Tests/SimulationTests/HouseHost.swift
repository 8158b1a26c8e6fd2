import PlugModel
import ProtocolCore
import SimulatedLAN
import TestSupport

/// A plug, a controller of one of three kinds, a caller that pairs or attacks, or another attacker.
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

/// An action of a test on a host of the house.
enum HouseStimulus: Sendable {
    /// Presses the plug's button.
    case press
    /// Holds the plug's button until the pairing window opens.
    case hold
    /// Holds the plug's button until the plug is reset to factory state.
    case holdForReset
    /// Changes the active power of the plug's load, in tenths of a watt.
    case load(Int32)
    /// Sets the faults of the plug's disk.
    case disk(SimulatedDisk.Area, SimulatedDisk.Faults)
    /// Sets the time that the plug's flash takes for a write.
    case flashTakes(ClosedRange<Duration>)
    /// Corrupts the file of this name in the plug's flash.
    case corrupt(String)
    /// Ends the plug after this number of disk steps; see ``SimulatedDisk/SimulatedDisk/breakDown(_:afterSteps:)``.
    case diskBreaksDown(SimulatedDisk.Breakdown, afterSteps: Int)
    /// Ends the plug after this number of disk steps, counted from the next start of its process.
    case nextStartBreaksDown(SimulatedDisk.Breakdown, afterSteps: Int)
    /// A user of the controller requests this relay state.
    case command(on: Bool)
    /// The controller fetches the samples that it does not have yet.
    case fetchSamples
    /// A caller or an attacker connects to a plug and sends messages that fit its role. The former controller connects
    /// to all plugs.
    case call
    /// Removes the controller with this key. A caller requests this in its session with the plug; a plug performs it as
    /// if its panel had requested it.
    case remove(PublicKey)
    /// If the plug accepts the caller, the caller resets it to factory state.
    case reset
    /// The controller's process is killed after it has stored this number of further updates. It receives the next
    /// update but does not store it.
    case killBeforeStore(Int)
}
