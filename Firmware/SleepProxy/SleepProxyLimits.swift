import ProtocolCore

/// The limits of one link. Any host can register, because the protocol has no authentication, so each limit protects
/// the plug or the hosts of the link against a host that registers too much.
public struct SleepProxyLimits: Hashable, Sendable {
    /// Sleeping hosts per link. Limits memory, and the time of a search.
    public var sleepers = 128
    /// Records per sleeper. Limits memory, and the packets of announcements.
    public var records = 128
    /// Bytes of record data and names per sleeper. Limits memory, and the size of the stored file.
    public var bytes = 12_288
    /// Unique names per sleeper. Each name is probed and announced.
    public var names = 40
    /// TCP and UDP ports per sleeper, counted together. Each port is a reason to wake the host.
    public var ports = 40
    /// Addresses per sleeper. Each one is verified, announced and answered for.
    public var addresses = 12
    /// Messages of one registration, which has several if its records do not fit into one frame.
    public var messages = 8
    /// Registrations that are verified at the same time. Limits the ARP requests that forged registrations cause.
    public var verifications = 64
    /// Registrations at once, from all hosts. Permits a whole office to fall asleep together.
    public var registrationBurst = 128
    /// The time after which one more registration is accepted. Limits the processor time that the checks take.
    public var registrationInterval = Duration.milliseconds(500)
    /// The longest lease in seconds. Limits the time for which a host that never returns has records.
    public var lease: UInt32 = 7200
    /// The names whose holder is remembered. Limits memory; the oldest entry is removed first.
    public var heldNames = 1024
    /// Wakes of one sleeper at once. A host that is woken too often cannot sleep.
    public var sleeperWakeBurst = 4
    /// The time after which a sleeper may be woken once more.
    public var sleeperWakeInterval = Duration.seconds(30)
    /// Wakes per cause at once, for all sleepers. Prevents one kind of packet from waking the whole house.
    public var causeWakeBurst = 16
    /// The time after which one more wake per cause is permitted.
    public var causeWakeInterval = Duration.seconds(4)
    /// Wakes at once for all sleepers and causes.
    public var wakeBurst = 32
    /// The time after which one more wake is permitted.
    public var wakeInterval = Duration.seconds(2)
    /// Hosts whose wakes are remembered after they return, so that a new registration does not refill the budget.
    public var rememberedHosts = 256
    /// Notes about refusals at once. A host that sends bad registrations must not fill the log.
    public var noteBurst = 20
    /// The time after which one more note about a refusal is permitted.
    public var noteInterval = Duration.seconds(10)

    /// The time in which a second card can contradict the first answer to a verification.
    public var contradictionWait = Duration.milliseconds(20)
    /// The interval between the requests of a verification. A request can be lost.
    public var verificationInterval = Duration.milliseconds(200)
    /// The requests of a verification. After the last one, an address without an answer refuses the registration.
    public var verificationRequests = 5
    /// The interval between the requests that check whether a host is silent.
    public var silenceInterval = Duration.milliseconds(500)
    /// The unanswered requests after which a host is asleep.
    public var silenceRequests = 3
    /// The time in which a registered host must become silent. Afterwards the proxy releases it, because it is awake.
    public var settling = Duration.seconds(60)
    /// The pauses before the announcements of a sleeper's addresses.
    public var announcements: [Duration] = [.zero, .seconds(1), .seconds(2)]
    /// The pauses after each magic packet. The last one is the time in which the host must return.
    public var wakePauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15)]
    /// The pauses before the proxy announces the card of a host that returned without an announcement.
    public var corrections: [Duration] = [.milliseconds(250), .seconds(1)]
    /// The time for which a better proxy must be present before sleepers are handed over.
    public var handover = Duration.seconds(60)
    /// The interval between the wakes of two sleepers that are handed over.
    public var handoverInterval = Duration.seconds(5)

    /// Creates the usual limits.
    public init() {}
}
