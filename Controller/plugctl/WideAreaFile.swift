import LinuxNetwork

/// The file with the domain in which the dashboard is registered.
enum WideAreaFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and the dashboard is not registered.
    static func settings() -> DomainSettings? {
        daemonSettings(
            "wide_area.toml", limit: DomainSettings.fileLimit,
            untilCorrected: "the dashboard is not registered in a domain",
            DomainSettings.init(_:file:home:))
    }
}
