import SystemUpdates

/// The file with the source of new systems for the house's plugs.
enum UpdatesFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and no plug is updated.
    static func settings() -> UpdateSettings? {
        daemonSettings(
            "updates.toml", limit: UpdateSettings.fileLimit,
            untilCorrected: "it does not search for new systems of plugs",
            UpdateSettings.init(_:file:home:))
    }
}
