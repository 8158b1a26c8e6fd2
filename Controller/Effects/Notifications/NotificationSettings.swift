public import ConfigurationFiles

/// The receivers of the notifications of rules.
public struct NotificationSettings: Sendable {
    /// The maximum size of the file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The maximum number of receivers. It limits the deliveries that one notification starts.
    static let receiverLimit = 16

    /// The receivers in the order of the file.
    public private(set) var receivers: [NamedReceiver] = []

    /// Reads the receivers from a TOML file. Each table is a receiver with a name of the user's choice, and `kind`
    /// selects how it is reached:
    ///
    /// ```toml
    /// [desk]
    /// kind = "desktop"
    ///
    /// [phone]
    /// kind = "ntfy"
    /// topic = "our-house-7f3a"
    /// token_file = "ntfy-token"    # next to this file
    /// ```
    ///
    /// - Parameters:
    ///   - file: the path of the file; relative paths in it are resolved against its folder.
    ///   - home: the user's home folder, for paths that begin with `~/`.
    /// - Throws: `ConfigurationError` with all mistakes in the file.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let names = reader.text.tables.keys.sorted { (reader.text.line($0) ?? 0, $0) < (reader.text.line($1) ?? 0, $1) }
        for name in names {
            let table = reader.table(name)
            if let receiver = table.receiver({ ConfigurationReader.path($0, beside: file, home: home) }) {
                receivers.append(receiver)
            }
        }
        if names.count > Self.receiverLimit {
            let found = "a file with \(names.count) receivers"
            reader.wrong(.outOfRange(found: found, allowed: "at most \(Self.receiverLimit)"), names.last)
        }
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }
}

extension NamedReceiver {
    /// Creates a receiver that always fails, for settings that cannot be read. Otherwise rules would count
    /// notifications as delivered that no receiver got.
    public static func unreadable(_ file: String, _ why: String) -> NamedReceiver {
        NamedReceiver(name: file, kind: nil, receiver: UnreadableSettings(words: why))
    }

    private struct UnreadableSettings: NotificationReceiver {
        let words: String

        func receive(_: RuleNotification) async throws(NotificationFault) { throw NotificationFault(words) }
    }
}
