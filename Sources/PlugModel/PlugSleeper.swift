public import ProtocolCore

/// A host that the plug's sleep proxy represents, or has represented since the firmware started. All numbers are those of
/// this proxy: a host that sleeps at a different one does not sleep here.
public struct PlugSleeper: Hashable, Sendable {
    /// The reasons to wake a host.
    public enum WakeCause: String, Hashable, Sendable, CaseIterable {
        /// A TCP connection to a registered port.
        case connection
        /// A UDP datagram to a registered port.
        case datagram
        /// Another host claims one of its addresses.
        case addressConflict
        /// Another host claims one of its names.
        case nameConflict
        /// A better sleep proxy is on the link.
        case betterProxy
        /// The lease of its registration ends.
        case leaseEnd
    }

    /// The host name, such as "nas.local".
    public var host: String
    /// The hardware address, such as "02:00:00:00:00:01".
    public var card: String
    /// The addresses at which it can be reached when it is awake, such as "192.0.2.7": at most ``addressLimit``.
    public var addresses: [String]
    /// The begin of the current sleep on the plug's clock, or nil if the host does not sleep at this proxy.
    public var asleepSince: Instant?
    /// The duration of all sleeps that have ended, in whole seconds.
    public var sleptSeconds: Int64
    /// The number of sleeps, including the current one.
    public var sleeps: UInt32
    /// The number of wakes per cause.
    public var wakes: [WakeCause: UInt32]
    /// The cause of the last wake, or nil.
    public var lastCause: WakeCause?

    /// The maximum number of sleepers in a state. They fill at most a quarter of a message.
    public static let limit = 32
    /// The maximum length of a host name in bytes (RFC 1035 section 2.3.4).
    public static let longestHost = 255
    /// The maximum length of a hardware address in bytes.
    public static let longestCard = 17
    /// The maximum number of addresses of a sleeper.
    public static let addressLimit = 3
    /// The maximum length of an address in bytes.
    public static let longestAddress = 45

    /// Creates a sleeper.
    public init(
        host: String, card: String, addresses: [String] = [], asleepSince: Instant? = nil, sleptSeconds: Int64 = 0,
        sleeps: UInt32 = 0, wakes: [WakeCause: UInt32] = [:], lastCause: WakeCause? = nil
    ) {
        self.host = host
        self.card = card
        self.addresses = addresses
        self.asleepSince = asleepSince
        self.sleptSeconds = sleptSeconds
        self.sleeps = sleeps
        self.wakes = wakes
        self.lastCause = lastCause
    }
}
