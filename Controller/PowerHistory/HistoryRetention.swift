/// How old what is kept may become. What has no time here is kept for ever: events, quarters, hours and days.
public struct HistoryRetention: Hashable, Sendable {
    /// Of samples; nil for ever.
    public var sampleDays: Int?
    /// Of the roll-ups of minutes, and of the counter readings from which energy is shared out; nil for ever.
    public var minuteDays: Int?

    /// Of what rules did and did not do, in all that is known of it; nil for ever.
    public var traceDays: Int?

    public init(sampleDays: Int?, minuteDays: Int?, traceDays: Int? = nil) {
        self.sampleDays = sampleDays
        self.minuteDays = minuteDays
        self.traceDays = traceDays
    }

    public static let standard = HistoryRetention(sampleDays: 400, minuteDays: 730, traceDays: 400)
    public static let forever = HistoryRetention(sampleDays: nil, minuteDays: nil)
}
