public import ProtocolCore

/// The numbers of the plug protocol (smartplug.proto), version 1.
public enum PlugWire {
    public static let version: UInt32 = 1
    /// Bytes of a message at most, without its length. Stops a peer from making the other side buffer without end.
    public static let maximumMessage = 65_536
    /// Bytes of one sample chunk at most, so that it fits a frame with its envelope.
    public static let maximumChunk = 65_000
    /// A side that has sent nothing for so long sends Ping.
    public static let pingInterval = Duration.seconds(20)
    /// A side that has received nothing for so long closes the connection.
    public static let silenceLimit = Duration.seconds(45)
    /// A side that was asked because there is reason to doubt the connection, and says nothing for so long, is given up.
    public static let probeLimit = Duration.seconds(5)
    /// The last time that a plug's clock shows, 36 years after its boot, and so the greatest age of an event.
    public static let latestTime = Instant(nanoseconds: 1 << 60)
    /// The highest number of an event. A plug that leapt a thousand times (2^48 each) is far below it.
    public static let highestSequence: SequenceNumber = 1 << 62
    /// The highest reading of an energy counter, milliwatt-hours: 9 GWh. Up to here each is exact in a floating-point number.
    public static let greatestEnergy: UInt64 = 1 << 53
    /// How often a reading is sent where the subscriber names no interval.
    public static let defaultReadingInterval = Duration.milliseconds(1000)
    /// How long a command may wait at the plug where the controller says nothing.
    public static let defaultCommandDeadline = Duration.milliseconds(5000)
    /// The longest way to a dim level.
    public static let longestTransition = Duration.milliseconds(3_600_000)
    /// Bytes of a name, as in a service instance name (RFC 6763 section 4.1.1).
    public static let maximumName = 63
    /// Commands of one session that wait for their result. Stops a controller from filling the plug's memory.
    public static let requestsInFlight = 16
    /// Fetches of one session that wait for their last chunk. Stops the same.
    public static let fetchesInFlight = 16
    /// The same of all sessions of one controller. Stops it from making the others' fetches wait.
    public static let fetchesOfController = 32
    /// Sessions that follow a plug's log at the same time, and those of them of one controller. Stops the log from taking most
    /// of the plug's time, and one controller from keeping the others from it.
    public static let logFollowers = 4
    public static let logFollowersOfController = 2
    /// For how long a log is followed without being asked again, so that nobody who is forgotten keeps a plug busy.
    public static let longestLog = Duration.seconds(3600)
    /// Bytes of the message of a line, so that no line drives out many others.
    public static let maximumLogMessage = 1024
    /// Controllers of HomeKit that a plug has, and bytes of the identifier of one (HAP 5.11).
    public static let homeKitControllers = 16
    public static let longestHomeKitIdentifier = 64
    /// Entries of the audit log in one message: with the longest names and details they take half a frame.
    public static let auditEntriesAtOnce = 100
    /// Lines of one message: with the longest of them it fits a frame, and stays.
    public static let logLinesAtOnce = 32
}
