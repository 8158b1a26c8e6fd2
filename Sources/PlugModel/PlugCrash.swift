public import ProtocolCore

/// The last life of a plug's firmware that did not end in order: for people, and for whoever looks for a fault.
public struct PlugCrash: Hashable, Sendable {
    /// Lines for whoever mends it: the signal, which firmware it was, and where it was in it.
    public var report: String
    /// How many there were since the plug's boot; 0: this one was in an earlier boot.
    public var count: Int
    /// On the clock of whoever holds this value; nil: of an earlier boot, or nobody knows.
    public var at: Instant?

    /// Bytes of a report that are told: it shall not fill a message.
    public static let limit = 2048

    public init(report: String, count: Int, at: Instant?) {
        self.report = report
        self.count = count
        self.at = at
    }

    /// The beginning of the text, whole letters.
    public static func bounded(_ text: String) -> String {
        String(decoding: text.utf8.prefix(limit - 2), as: UTF8.self)
    }
}
