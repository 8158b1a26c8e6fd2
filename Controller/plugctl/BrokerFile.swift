import Broker
import BrokerConfiguration
import PlugClient
import PlugModel
import SystemUpdates

/// The file with the settings of the house's broker.
enum BrokerFile {
    /// Returns nil if the file is missing or invalid. An invalid file is reported, and the house runs without a broker.
    static func settings() -> BrokerSettings? {
        daemonSettings(
            "broker.toml", limit: BrokerSettings.fileLimit, untilCorrected: "the MQTT broker is not used",
            BrokerSettings.init(_:file:home:))
    }
}

/// Opens the connection to the broker; nil, with a report, if it cannot be opened.
///
/// - Parameters:
///   - directory: The directory for state that must survive a restart.
///   - updates: Updates the plugs; nil if clients of the broker may not begin updates.
func openBroker(
    _ settings: BrokerSettings, _ directory: String, _ updates: HouseUpdates?, on client: PlugClient
) -> BrokerDoor? {
    var update: BrokerDoor.Updating?
    if let updates { update = { await updates.refusal(updating: $0) } }
    do {
        return try BrokerDoor(settings, directory: directory, update: update, on: client.eventLoop) { printError($0) }
    } catch {
        printError("the MQTT broker is not used: \(error)\nhint: check the files in \(directory)")
        return nil
    }
}

extension HouseUpdates {
    /// Begins to update a plug. Returns the reason if the update does not begin.
    fileprivate func refusal(updating plug: PlugID) -> Refusal? {
        do throws(SystemUpdateError) {
            try update(plug)
            return nil
        } catch {
            return Refusal(error == .busy ? .busy : .deadlinePassed, "\(error)")
        }
    }
}
