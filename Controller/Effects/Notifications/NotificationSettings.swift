public import ConfigurationFiles

/// Who gets the notifications of rules.
public struct NotificationSettings: Sendable {
    /// Bytes of a file that are read.
    public static let fileLimit = ConfigurationText.limit
    /// Nobody has so many; it bounds what one notification sets going.
    static let receiverLimit = 16

    /// In the order of the file.
    public private(set) var receivers: [NamedReceiver] = []

    /// Reads them (TOML): each table is a receiver, whose name is free, and `kind` says how it is reached:
    ///
    /// ```toml
    /// [desk]
    /// kind = "desktop"
    ///
    /// [phone]
    /// kind = "ntfy"
    /// topic = "our-house-7f3a"
    /// token_file = "ntfy-token"    # beside this file
    /// ```
    ///
    /// - Parameters:
    ///   - file: its path: files that it names are looked for beside it.
    ///   - home: of the user, for names that begin with `~/`.
    /// - Throws: `ConfigurationError` with everything that is wrong.
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
        reader.tellUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }
}

extension NamedReceiver {
    /// Stands for settings that cannot be read, so that nobody takes for told what nobody was told.
    public static func unreadable(_ file: String, _ why: String) -> NamedReceiver {
        NamedReceiver(name: file, kind: nil, receiver: UnreadableSettings(words: why))
    }

    private struct UnreadableSettings: NotificationReceiver {
        let words: String

        func receive(_: RuleNotification) async throws(NotificationFault) { throw NotificationFault(words) }
    }
}
