import ConfigurationFiles
import LinuxNetwork
import LinuxSystem

/// The file with the domain in which the dashboard is registered.
enum WideAreaFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and the dashboard is not registered.
    static func settings() -> DomainSettings? {
        do throws(CLIError) {
            return try readUsualSettings("wide_area.toml", limit: DomainSettings.fileLimit) {
                bytes, path throws(ConfigurationError) in
                try DomainSettings(bytes, file: path, home: UserDirectories.home)
            }
        } catch {
            complainOfFile(
                """
                \(error)
                hint: correct the file and restart the daemon; until then, the dashboard is not registered in a domain
                """)
            return nil
        }
    }
}
