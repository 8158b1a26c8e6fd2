public import ConfigurationFiles
public import PlugModel

/// The settings in `updates.toml`: the source of new systems for plugs.
public struct UpdateSettings: Sendable {
    /// The limit of a file in bytes.
    public static let fileLimit = ConfigurationText.limit
    private static let longestSource = 1024

    /// The folder or the HTTP server with the bundles.
    public let source: UpdateSource
    /// When a plug restarts with its new system; when its relay is off by default.
    public let restart: UpdateRestart

    /// The time of day in which plugs with an installed system restart, also if they are on; nil for none.
    public let quietTime: DailySpan?
    /// True if clients of the MQTT broker, such as Home Assistant, may begin updates.
    public let allowsBroker: Bool

    /// Reads the settings (TOML):
    ///
    /// ```toml
    /// [updates]
    /// source = "https://example.org/plugs"   # or a folder, relative to this file
    /// restart = "when-off"                   # or now, or later
    /// quiet_time = "02:00-05:00"             # restart plugs that are on
    /// broker = true                          # Home Assistant may begin updates
    /// ```
    ///
    /// - Parameters:
    ///   - file: the path of the settings.
    ///   - home: the user's home directory, for a folder that begins with `~/`.
    /// - Throws: `ConfigurationError` with all errors.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let table = reader.table("updates")
        let written = table.text("source", "an address or a folder", longest: Self.longestSource)
        if written == nil, !table.has("source") {
            table.wrong(.missing("the address or the folder with the new systems"), "source")
        }
        restart = table.choice("restart", UpdateRestart.self) ?? .whenOff
        let quiet = table.text("quiet_time", "a begin and an end such as \"02:00-05:00\"")
        quietTime = quiet.flatMap { DailySpan(text: $0) }
        if let quiet, quietTime == nil {
            table.wrong(.invalid("\"\(quiet)\" is not a time of day such as \"02:00-05:00\""), "quiet_time")
        }
        allowsBroker = table.boolean("broker") ?? false
        let source = written.map { place in
            UpdateSource(server: place)
                ?? UpdateSource(folder: ConfigurationReader.path(place, beside: file, home: home))
        }
        if let written, written.contains("://"), UpdateSource(server: written) == nil {
            table.wrong(.invalid("\"\(written)\" is not an address that begins with http:// or https://"), "source")
        }
        reader.reportUnknown()
        guard reader.mistakes.isEmpty, let source else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self.source = source
    }
}
