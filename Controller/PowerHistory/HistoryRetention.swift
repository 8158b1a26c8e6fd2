/// The maximum age of stored data in days. Events, firings, and roll-ups of quarter-hours, hours and days are kept
/// forever.
public struct HistoryRetention: Hashable, Sendable {
    /// The age limit of samples; nil for no limit.
    public var sampleDays: Int?
    /// The age limit of roll-ups of minutes and of counter readings; nil for no limit.
    public var minuteDays: Int?

    /// The age limit of traces; nil for no limit.
    public var traceDays: Int?

    /// Creates a retention.
    public init(sampleDays: Int?, minuteDays: Int?, traceDays: Int? = nil) {
        self.sampleDays = sampleDays
        self.minuteDays = minuteDays
        self.traceDays = traceDays
    }

    /// The usual limits: 400 days for samples and traces, 730 days for minutes.
    public static let standard = HistoryRetention(sampleDays: 400, minuteDays: 730, traceDays: 400)
    /// Nothing is deleted by age.
    public static let forever = HistoryRetention(sampleDays: nil, minuteDays: nil)
}
