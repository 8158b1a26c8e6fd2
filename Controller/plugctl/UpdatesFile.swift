import ConfigurationFiles
import LinuxSystem
import SystemUpdates

/// The file with the source of new systems for the house's plugs.
enum UpdatesFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and no plug is updated.
    static func settings() -> UpdateSettings? {
        do throws(CLIError) {
            return try readUsualSettings("updates.toml", limit: UpdateSettings.fileLimit) {
                bytes, path throws(ConfigurationError) in
                try UpdateSettings(bytes, file: path, home: UserDirectories.home)
            }
        } catch {
            complainOfFile(
                """
                \(error)
                hint: correct the file and restart the daemon; until then, it does not search for new systems of plugs
                """)
            return nil
        }
    }
}
