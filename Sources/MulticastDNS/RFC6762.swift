public import DNSWire

/// The constants of RFC 6762, each with its section.
public enum RFC6762 {
    /// §3, §5.2, §6: the source and destination port of all packets except legacy queries.
    public static let port: UInt16 = 5353
    /// §3: the IPv4 group.
    public static let groupV4 = IPv4Address(224, 0, 0, 251)
    /// §3: the IPv6 group, ff02::fb.
    public static let groupV6 = IPv6Address(high: 0xFF02_0000_0000_0000, low: 0xFB)
    /// §11: the IP TTL or hop limit of every packet.
    public static let hopLimit: UInt8 = 255
    /// §17: the limit of a packet in bytes, including IP and UDP headers.
    public static let packetLimit = 9000

    /// §10: the time to live in seconds of addresses and of records whose name or data is a host name.
    public static let hostTimeToLive: UInt32 = 120
    /// §10: the time to live in seconds of all other records.
    public static let otherTimeToLive: UInt32 = 4500

    /// §8.1: the random wait before the first probe.
    public static let probeWait: ClosedRange<Duration> = .zero ... .milliseconds(250)
    /// §8.1: the interval between probes, and after the last one.
    public static let probeInterval: Duration = .milliseconds(250)
    /// §8.1: the number of probes.
    public static let probeCount = 3
    /// §8.2: the wait of a tiebreak's loser before it probes again.
    public static let tiebreakWait: Duration = .seconds(1)
    /// §8.1: the number of conflicts within ``conflictWindow`` after which each further attempt waits
    /// ``conflictPause``.
    public static let conflictLimit = 15
    /// §8.1: the time in which conflicts are counted.
    public static let conflictWindow: Duration = .seconds(10)
    /// §8.1: the wait before each further attempt after too many conflicts.
    public static let conflictPause: Duration = .seconds(5)

    /// §8.3: the interval between the first and the second announcement, at least doubled each further time.
    public static let announcementInterval: Duration = .seconds(1)
    /// §8.3: the number of announcements, which may be 2 to 8. If a peer loses one packet in three at random, four
    /// announcements (at 0, 1, 3 and 7 s) reach it with a probability of 99%.
    public static let announcementCount = 4

    /// §8.4: the number of record changes that a host may announce within ``updateWindow``.
    public static let updateLimit = 10
    /// §8.4: the time in which announced record changes are counted.
    public static let updateWindow: Duration = .seconds(60)

    /// §6: the delay of an answer that other hosts may also give.
    public static let sharedAnswerDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
    /// §7.2: the delay of an answer to a query whose known answers continue in another packet.
    public static let truncatedAnswerDelay: ClosedRange<Duration> = .milliseconds(400) ... .milliseconds(500)
    /// §6: the minimum interval between two multicasts of a record on one interface.
    public static let multicastInterval: Duration = .seconds(1)
    /// §6: the minimum interval between two multicasts of a record in answers to probes.
    public static let defenceInterval: Duration = .milliseconds(250)
    /// §6.7: the highest time to live in seconds in answers to legacy resolvers.
    public static let legacyTimeToLive: UInt32 = 10

    /// §5.2: the random wait before the first query of a question.
    public static let firstQueryDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
    /// §5.2: the interval between the first and the second query, at least doubled each further time.
    public static let queryInterval: Duration = .seconds(1)
    /// §5.2: the limit of the doubled interval.
    public static let queryIntervalLimit: Duration = .seconds(3600)
    /// §7.3: this host does not ask a question that another host has asked recently: within this fraction of the
    /// interval between two queries.
    public static let duplicateQuestionWindow = 0.5
    /// §5.2: the percentages of a record's lifetime at which it is queried again, if an active question asks for it.
    public static let refreshPercentages = [80, 85, 90, 95]
    /// §5.2: the random delay of these queries, as a fraction of the record's lifetime.
    public static let refreshJitter: ClosedRange<Double> = 0...0.02

    /// §10.1: the time from a goodbye to the record's expiry.
    public static let goodbyeGrace: Duration = .seconds(1)
    /// §10.2: the time from a cache-flush bit to the expiry of other records of the set.
    public static let flushGrace: Duration = .seconds(1)
    /// §10.5: the number of unanswered queries that puts a record in doubt. The RFC requires at least two. Four, as in
    /// Apple's implementation, tolerate the losses of slow wireless links.
    public static let unansweredLimit = 4
    /// §10.4: a record in doubt is deleted if no response confirms it within this time.
    public static let reconfirmation: Duration = .seconds(10)
}
