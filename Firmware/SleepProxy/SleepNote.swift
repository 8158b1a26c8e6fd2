public import DNSWire
public import MulticastDNS

/// The reasons to refuse a registration.
public enum RefusalReason: String, Hashable, Sendable, CaseIterable {
    // The message.
    case malformed, notAnUpdate, missingOwner, missingLease, badCard
    // The records.
    case recordClass, recordType, lifetime, domain, foreignTarget, noAddress
    case tooManyRecords, tooManyBytes, tooManyNames, tooManyPorts, tooManyAddresses, tooManyMessages
    // The addresses.
    case ownAddress, infrastructureAddress, addressNotUnicast, addressNotOnLink, addressOfAnotherSleeper
    case sourceNotRegistered, noAnswer, answerOfAnotherCard
    // The names.
    case ownName, nameOfAnotherSleeper, nameOfAnotherHost
    // The order and the number of registrations.
    case olderSequence, tooManySleepers, tooManyVerifications, tooFrequent, noLink
}

/// The reasons to wake a sleeper.
public enum WakeCause: String, Hashable, Sendable, CaseIterable {
    /// A TCP SYN to a registered port.
    case connection
    /// A UDP datagram to a registered port.
    case datagram
    /// Another card claims one of the sleeper's addresses.
    case addressConflict
    /// Another host has one of the sleeper's names.
    case nameConflict
    /// A better proxy is on the link.
    case betterProxy
    /// The lease ends.
    case leaseEnd
    /// The user turned the proxy off.
    case disabled
}

/// The name of a sleeper for the log and for status reports.
public struct SleeperIdentity: Hashable, Sendable {
    /// The sleeper's host name.
    public let host: Name
    /// The card that sleeps.
    public let card: MACAddress

    /// Creates an identity.
    public init(host: Name, card: MACAddress) {
        self.host = host
        self.card = card
    }
}

/// An event for the log.
public enum SleepNote: Hashable, Sendable {
    /// A host registered for this number of seconds, and its names are published.
    case registered(SleeperIdentity, lease: UInt32)
    /// A registration was refused.
    case refused(RefusalReason, from: Peer)
    /// The host is silent. The proxy answers for its addresses.
    case asleep(SleeperIdentity)
    /// The proxy sends magic packets.
    case waking(SleeperIdentity, WakeCause)
    /// The host returned. The duration is the time since the first magic packet; nil if the host woke up by itself.
    case awake(SleeperIdentity, after: Duration?)
    /// The host did not return after the last magic packet.
    case didNotWake(SleeperIdentity, WakeCause)
    /// The host registered and remained awake, so the proxy released it.
    case stillAwake(SleeperIdentity)
    /// The lease ended, and the host did not return.
    case expired(SleeperIdentity)
    /// The host returned after it was woken to register with a better proxy.
    case handedOver(SleeperIdentity)
    /// The proxy ended the registration for this reason.
    case removed(SleeperIdentity, RefusalReason)
}
