public import ProtocolCore

/// One entry of a plug's audit log.
public struct AuditEntry: Hashable, Sendable {
    /// The highest number: no plug gets there. Adding to one that a spoiled file made up must not overflow.
    public static let highestNumber: UInt64 = 1 << 53

    /// Rises from entry to entry, from 1 on; a number may be missing where entries of other kinds were kept longer.
    public var number: UInt64
    /// The boot to which ``time`` belongs: a plug has no battery clock.
    public var boot: BootID
    /// Whole milliseconds.
    public var time: Instant
    public var note: AuditNote
    /// How often it happened, from ``time`` on for at most an hour: more than 1 only for refusals and new keys of controllers.
    public var count: UInt32

    public init(number: UInt64, boot: BootID, time: Instant, _ note: AuditNote, count: UInt32 = 1) {
        self.number = number
        self.boot = boot
        self.time = Instant(nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
        self.note = note
        self.count = count
    }
}

/// A part of a plug's audit log, oldest first.
public struct AuditPage: Hashable, Sendable {
    public var entries: [AuditEntry]
    /// Nothing of what was asked for comes after it.
    public var isLast: Bool

    public init(_ entries: [AuditEntry], isLast: Bool) {
        self.entries = entries
        self.isLast = isLast
    }
}
