import CMosquitto

/// Loads libmosquitto, which every broker connection needs.
public enum BrokerLibrary {
    /// The reason why the library cannot be loaded; nil if it is loaded.
    public static var fault: String? { smartplug_mqtt_load().map { String(cString: $0) } }
}
