import ConfigurationFiles
import PlugModel
import WiFi

extension ConfigurationReader {
    /// Reads the Wi-Fi settings, or returns nil if the plug joins no networks.
    func wiFi() -> WiFiSettings? {
        let wiFi = table("wifi")
        let interface = wiFi.text("interface", "a network interface's name", longest: 15)
        let country = wiFi.text("country", "the code of a country", longest: 2)
        // The limit of a socket's path is 107 bytes.
        let folder = wiFi.text("control_folder", "the folder with wpa_supplicant's sockets", longest: 90)
        let known = country.flatMap { WiFiCountry(rawValue: $0) }
        if country != nil, known == nil { wiFi.wrong(.invalid("a country has two letters, such as \"DE\""), "country") }
        guard let interface else { return nil }
        return WiFiSettings(
            interface: interface, controlFolder: folder ?? WiFiSettings.usualControlFolder, country: known)
    }
}
