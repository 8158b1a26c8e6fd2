public import ProtocolCore

/// An entry of a plug's audit log.
public struct AuditEntry: Hashable, Sendable {
    /// The highest entry number. No plug reaches it. The limit prevents overflows in arithmetic on a number from a
    /// corrupt file.
    public static let highestNumber: UInt64 = 1 << 53

    /// The number of the entry, from 1. Numbers rise but are not consecutive: the log evicts kinds of entries at
    /// different rates.
    public var number: UInt64
    /// The boot that ``time`` belongs to. A plug has no battery-backed clock.
    public var boot: BootID
    /// The time of the first occurrence on the plug's clock, in whole milliseconds.
    public var time: Instant
    /// The recorded action, its actor and its result.
    public var note: AuditNote
    /// The number of occurrences within an hour of ``time``. Only entries about refusals and about key changes of
    /// controllers can have a count above 1.
    public var count: UInt32

    /// Creates an entry. `time` is rounded down to whole milliseconds.
    public init(number: UInt64, boot: BootID, time: Instant, _ note: AuditNote, count: UInt32 = 1) {
        self.number = number
        self.boot = boot
        self.time = Instant(nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
        self.note = note
        self.count = count
    }
}

/// A page of a plug's audit log.
public struct AuditPage: Hashable, Sendable {
    /// The entries, oldest first.
    public var entries: [AuditEntry]
    /// True if no later entry matches the request.
    public var isLast: Bool

    /// Creates a page from entries that are sorted oldest first.
    public init(_ entries: [AuditEntry], isLast: Bool) {
        self.entries = entries
        self.isLast = isLast
    }
}
