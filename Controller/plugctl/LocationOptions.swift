import ArgumentParser
import ConfigurationFiles
import HouseCalendar
import LinuxSystem

/// The location of the house, for rules that depend on the sun.
struct LocationOptions: ParsableArguments {
    @Option(
        // A southern latitude begins with a dash.
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The location of the house in degrees, north and east positive, for rules that use sunrise or sunset. (default: latitude \
            and longitude of [location] in ~/.config/smartplug/location.toml)
            """, valueName: "latitude,longitude"))
    var location: String?

    func validate() throws {
        if let location, Self.place(location) == nil {
            throw ValidationError(
                "'\(location)' is not a valid latitude and longitude\nhint: write it as --location 52.52,13.40")
        }
    }

    /// Returns nil if no location is known.
    func read() throws(CLIError) -> Daylight? {
        if let location { return Self.place(location) }
        let path = UserDirectories.configuration + "/smartplug/location.toml"
        return try readSettings(path, limit: Daylight.fileLimit) { bytes throws(ConfigurationError) in
            try Daylight(bytes, file: path)
        }
    }

    private static func place(_ text: String) -> Daylight? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            Double(String(part.drop { $0 == " " }))
        }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else { return nil }
        return Daylight(latitude: latitude, longitude: longitude)
    }
}
