public import DNSWire

/// The constants of RFC 6762, each with the section it comes from.
public enum RFC6762 {
    /// §3, §5.2, §6: source and destination of everything but legacy queries.
    public static let port: UInt16 = 5353
    /// §3.
    public static let groupV4 = IPv4Address(224, 0, 0, 251)
    /// §3: ff02::fb.
    public static let groupV6 = IPv6Address(high: 0xFF02_0000_0000_0000, low: 0xFB)
    /// §11: the IP TTL or hop limit of every packet.
    public static let hopLimit: UInt8 = 255
    /// §17: IP and UDP headers included.
    public static let packetLimit = 9000

    /// §10: seconds, for records whose name or data is a host name, and for addresses.
    public static let hostTimeToLive: UInt32 = 120
    /// §10: seconds, for all other records.
    public static let otherTimeToLive: UInt32 = 4500

    /// §8.1: the random wait before the first probe.
    public static let probeWait: ClosedRange<Duration> = .zero ... .milliseconds(250)
    /// §8.1: between probes, and after the last one.
    public static let probeInterval: Duration = .milliseconds(250)
    /// §8.1.
    public static let probeCount = 3
    /// §8.2: the loser of a tiebreak waits this long before it probes again.
    public static let tiebreakWait: Duration = .seconds(1)
    /// §8.1: so many conflicts ...
    public static let conflictLimit = 15
    /// ... within this time ...
    public static let conflictWindow: Duration = .seconds(10)
    /// ... make each further attempt wait this long.
    public static let conflictPause: Duration = .seconds(5)

    /// §8.3: between the first and the second announcement; then at least doubled each time.
    public static let announcementInterval: Duration = .seconds(1)
    /// §8.3 allows 2 to 8. Four (at 0, 1, 3 and 7 s) reach a peer that loses every third packet 99 times in 100.
    public static let announcementCount = 4

    /// §8.4: a host changes its records at most so often ...
    public static let updateLimit = 10
    /// ... within this time.
    public static let updateWindow: Duration = .seconds(60)

    /// §6: the delay of an answer that other hosts may give too.
    public static let sharedAnswerDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
    /// §7.2: the delay of an answer to a query whose known answers continue in another packet.
    public static let truncatedAnswerDelay: ClosedRange<Duration> = .milliseconds(400) ... .milliseconds(500)
    /// §6: between two multicasts of a record on one interface.
    public static let multicastInterval: Duration = .seconds(1)
    /// §6: the same when a probe is answered.
    public static let defenceInterval: Duration = .milliseconds(250)
    /// §6.7: seconds, the most that a legacy resolver is told.
    public static let legacyTimeToLive: UInt32 = 10

    /// §5.2: the random wait before a new question is asked.
    public static let firstQueryDelay: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(120)
    /// §5.2: between the first and the second query; then at least doubled each time.
    public static let queryInterval: Duration = .seconds(1)
    /// §5.2: where the doubling ends.
    public static let queryIntervalLimit: Duration = .seconds(3600)
    /// §7.3: a question that another host has asked within this part of the time since we asked it last counts as asked by us.
    public static let duplicateQuestionWindow = 0.5
    /// §5.2: a record that is still wanted is asked for again at these parts of its life, in percent ...
    public static let refreshPercentages = [80, 85, 90, 95]
    /// ... plus this random part of its life.
    public static let refreshJitter: ClosedRange<Double> = 0...0.02

    /// §10.1: how long a record outlives its goodbye.
    public static let goodbyeGrace: Duration = .seconds(1)
    /// §10.2: how long other records of a set outlive a cache-flush bit.
    public static let flushGrace: Duration = .seconds(1)
    /// §10.5 asks for two or more queries that stay unanswered; peers on slow wireless links need Apple's tolerance.
    public static let unansweredLimit = 4
    /// §10.4: a record under doubt is deleted when nobody confirms it within this time.
    public static let reconfirmation: Duration = .seconds(10)
}
