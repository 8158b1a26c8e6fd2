public import ProtocolCore

/// The constants of the plug protocol (smartplug.proto), version 1.
public enum PlugWire {
    /// The protocol version.
    public static let version: UInt32 = 1
    /// The maximum length of a message in bytes, without its length field. The limit keeps a peer from exhausting the
    /// receiver's memory.
    public static let maximumMessage = 65_536
    /// The maximum length of a sample chunk in bytes. A chunk of this length fits into a frame together with the other
    /// fields of its message.
    public static let maximumChunk = 65_000
    /// A side that has sent nothing for this time sends Ping.
    public static let pingInterval = Duration.seconds(20)
    /// A side that has received nothing for this time closes the connection.
    public static let silenceLimit = Duration.seconds(45)
    /// A side that probes a connection and receives nothing for this time closes it.
    public static let probeLimit = Duration.seconds(5)
    /// The last valid time of a plug's clock, 36 years after its boot. It also limits the age of an event.
    public static let latestTime = Instant(nanoseconds: 1 << 60)
    /// The highest event number. Each storage failure adds 2^44 to 2^48 to the number; a thousand failures stay far
    /// below the limit.
    public static let highestSequence: SequenceNumber = 1 << 62
    /// The highest energy counter in milliwatt-hours, 9 TWh. Every value up to it is exact in a double.
    public static let greatestEnergy: UInt64 = 1 << 53
    /// The interval of readings if the subscriber requests none.
    public static let defaultReadingInterval = Duration.milliseconds(1000)
    /// The time within which the plug must execute a command if the controller requests none.
    public static let defaultCommandDeadline = Duration.milliseconds(5000)
    /// The longest transition to a dim level.
    public static let longestTransition = Duration.milliseconds(3_600_000)
    /// The maximum length of a name in bytes, as for a service instance name (RFC 6763 section 4.1.1).
    public static let maximumName = 63
    /// The maximum number of unanswered commands per session. The limit keeps a controller from exhausting the plug's
    /// memory.
    public static let requestsInFlight = 16
    /// The maximum number of unfinished fetches per session. The limit keeps a controller from exhausting the plug's
    /// memory.
    public static let fetchesInFlight = 16
    /// The maximum number of unfinished fetches per controller, over all its sessions. The limit keeps a controller
    /// from delaying other controllers' fetches.
    public static let fetchesOfController = 32
    /// The maximum number of sessions that follow a plug's log. The limit keeps the log from consuming most of the
    /// plug's time.
    public static let logFollowers = 4
    /// The maximum number of log followers per controller. The limit keeps one controller from blocking the others.
    public static let logFollowersOfController = 2
    /// The longest time that a log can be followed without a new request. It limits the cost of an abandoned follower.
    public static let longestLog = Duration.seconds(3600)
    /// The maximum length of a log message in bytes. The limit keeps one line from evicting many others.
    public static let maximumLogMessage = 1024
    /// The maximum number of HomeKit controllers of a plug (HAP 5.11).
    public static let homeKitControllers = 16
    /// The maximum length of a HomeKit controller's identifier in bytes (HAP 5.11).
    public static let longestHomeKitIdentifier = 64
    /// The maximum number of Matter fabrics of a plug (`SupportedFabrics`, Matter 11.18.5.3). Fabric indices are from 1
    /// to 254 (Matter 7.5.2).
    public static let matterFabrics = 16
    /// The maximum length of the label of a Matter fabric in bytes (Matter 11.18.4.4).
    public static let longestMatterLabel = 32
    /// The longest time for which a request can open Matter's commissioning window (Matter 5.4.2.3.1).
    public static let longestMatterWindow = Duration.seconds(900)
    /// The maximum size of a bundle with a new system in bytes.
    public static let largestBundle: UInt64 = 1 << 30
    /// The maximum number of bytes of a bundle per message.
    public static let largestBundlePart = 32_768
    /// The maximum length of the reason why an update failed in bytes.
    public static let longestUpdateDetail = 255
    /// The maximum number of Wi-Fi networks that a plug stores.
    public static let wiFiNetworkLimit = 16
    /// The maximum number of audit entries per message. With the longest names and details they fill half of a frame.
    public static let auditEntriesAtOnce = 100
    /// The maximum number of log lines per message. Lines of maximum length still fit into a frame.
    public static let logLinesAtOnce = 32
}
