import Broker
import BrokerConfiguration
import ConfigurationFiles
import LinuxSystem
import PlugClient

/// The file with the settings of the house's broker.
enum BrokerFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and the house runs without a broker.
    static func settings() -> BrokerSettings? {
        do throws(CLIError) {
            return try readUsualSettings("broker.toml", limit: BrokerSettings.fileLimit) {
                bytes, path throws(ConfigurationError) in
                try BrokerSettings(bytes, file: path, home: UserDirectories.home)
            }
        } catch {
            complainOfFile(
                """
                \(error)
                hint: correct the file and restart the daemon; until then, the MQTT broker is not used
                """)
            return nil
        }
    }
}

/// Opens the connection to the broker; nil, with a report, if it cannot be opened.
///
/// - Parameter directory: The directory for state that must survive a restart.
func openBroker(_ settings: BrokerSettings, _ directory: String, on client: PlugClient) -> BrokerDoor? {
    do {
        return try BrokerDoor(settings, directory: directory, on: client.eventLoop) { printError($0) }
    } catch {
        printError("the MQTT broker is not used: \(error)\nhint: check the files in \(directory)")
        return nil
    }
}
