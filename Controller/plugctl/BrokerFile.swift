import Broker
import BrokerConfiguration
import ConfigurationFiles
import DurableFiles
import PlugClient

/// Where it stands which broker the house speaks to.
enum BrokerFile {
    /// Nil where there is no such file. One that is broken is said, and the house goes on without a broker.
    static func settings() -> BrokerSettings? {
        do throws(Complaint) {
            return try readUsualSettings("broker.toml", limit: BrokerSettings.fileLimit) {
                bytes, path throws(ConfigurationError) in
                try BrokerSettings(bytes, file: path, home: UserDirectories.home)
            }
        } catch {
            complainOfFile("\(error)\nhint: put it right and start again; until then the house speaks to no broker")
            return nil
        }
    }
}

/// - Parameter directory: keeps what must survive the process.
func openBroker(_ settings: BrokerSettings, _ directory: String, on client: PlugClient) -> BrokerDoor? {
    do {
        return try BrokerDoor(settings, directory: directory, on: client.eventLoop) { complain($0) }
    } catch {
        complain("the house speaks to no broker: \(error)\nhint: see the files in \(directory)")
        return nil
    }
}
