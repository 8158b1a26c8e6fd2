public import ProtocolCore

/// The last crash of a plug's firmware, for diagnosis.
public struct PlugCrash: Hashable, Sendable {
    /// The crash report, several lines: the signal, the firmware version and the location in the firmware.
    public var report: String
    /// The number of crashes since the plug's boot. 0 if this crash was in an earlier boot.
    public var count: Int
    /// The time of the crash on the clock of the process that holds this value, or nil if it was in an earlier boot or
    /// is unknown.
    public var at: Instant?

    /// The maximum length of a sent report in bytes. It leaves room for the other fields of the message.
    public static let limit = 2048

    /// Creates a description of a crash.
    public init(report: String, count: Int, at: Instant?) {
        self.report = report
        self.count = count
        self.at = at
    }

    /// Returns the beginning of a text, short enough for ``limit``.
    public static func bounded(_ text: String) -> String {
        String(decoding: text.utf8.prefix(limit - 2), as: UTF8.self)
    }
}
