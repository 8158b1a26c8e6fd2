import ArgumentParser
import ConfigurationFiles
import Daylight
import DurableFiles

/// The location of the house, for rules that depend on the sun.
struct LocationOptions: ParsableArguments {
    @Option(
        // A southern latitude begins with a dash.
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Where the house is, in degrees, north and east positive, for rules that go by the sun. (default: latitude and \
            longitude of [location] in ~/.config/smartplug/location.toml)
            """, valueName: "latitude,longitude"))
    var location: String?

    func validate() throws {
        if let location, Self.place(location) == nil {
            throw ValidationError("'\(location)' is no place on Earth\nhint: such as --location 52.52,13.40")
        }
    }

    /// Returns nil if no location is known.
    func read() throws(Complaint) -> Daylight? {
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
