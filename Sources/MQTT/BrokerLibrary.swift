import CMosquitto

/// libmosquitto, without which no broker is spoken to.
public enum BrokerLibrary {
    /// Why it cannot be loaded, in words; nil: it is loaded from now on.
    public static var fault: String? { smartplug_mqtt_load().map { String(cString: $0) } }
}
