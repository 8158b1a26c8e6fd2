import BrokerConfiguration
import ConfigurationFiles

extension ConfigurationReader {
    /// Reads the MQTT broker, or returns nil if the file has none. The keys are those of a house's `broker.toml`.
    func broker(file: String) -> BrokerSettings? {
        let isThere = table("mqtt").isThere
        let assistant = table("home_assistant")
        if assistant.isThere, !isThere { assistant.wrong(.needless("Home Assistant discovery needs an [mqtt] table")) }
        return BrokerSettings(self, table: "mqtt", isOptional: true, file: file, home: nil)
    }
}
