public import PlugModel

/// The settings of the plug's Wi-Fi.
public struct WiFiSettings: Hashable, Sendable {
    /// The network interface of the radio, such as "wlan0".
    public var interface: String
    /// The folder with wpa_supplicant's sockets.
    public var controlFolder: String
    /// The country of the radio, until an owner has set one.
    public var country: WiFiCountry?

    /// The folder of Debian's wpa_supplicant.
    public static let usualControlFolder = "/run/wpa_supplicant"

    /// Creates settings.
    public init(
        interface: String, controlFolder: String = WiFiSettings.usualControlFolder, country: WiFiCountry? = nil
    ) {
        (self.interface, self.controlFolder, self.country) = (interface, controlFolder, country)
    }
}
