/// How old what is kept may become. What has no time here is kept for ever: events, quarters, hours and days.
public struct HistoryRetention: Hashable, Sendable {
    /// Of samples; nil for ever.
    public var sampleDays: Int?
    /// Of the roll-ups of minutes, and of the counter readings from which energy is shared out; nil for ever.
    public var minuteDays: Int?

    public init(sampleDays: Int?, minuteDays: Int?) {
        self.sampleDays = sampleDays
        self.minuteDays = minuteDays
    }

    public static let standard = HistoryRetention(sampleDays: 400, minuteDays: 730)
    public static let forever = HistoryRetention(sampleDays: nil, minuteDays: nil)
}
