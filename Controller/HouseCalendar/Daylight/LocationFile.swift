public import ConfigurationFiles

extension Daylight {
    /// The maximum size of a file in bytes.
    public static let fileLimit = ConfigurationText.limit

    /// Reads the location of the house from a TOML file:
    ///
    /// ```toml
    /// [location]
    /// latitude = 52.52     # degrees, north positive
    /// longitude = 13.40    # east positive
    /// ```
    ///
    /// Two decimals give an accuracy of one kilometre, or three seconds of sunrise and sunset.
    ///
    /// - Throws: `ConfigurationError` with all mistakes in the file.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let table = reader.table("location")
        if !table.isThere { table.wrong(.missing("[location] with the latitude and longitude of the house")) }
        let latitude = table.number("latitude", -90...90, "degrees")
        let longitude = table.number("longitude", -180...180, "degrees")
        if table.isThere {
            if !table.has("latitude") { table.wrong(.missing("latitude = ..., in degrees, north positive")) }
            if !table.has("longitude") { table.wrong(.missing("longitude = ..., in degrees, east positive")) }
        }
        reader.reportUnknown()
        guard reader.mistakes.isEmpty, let latitude, let longitude,
            let place = Daylight(latitude: latitude, longitude: longitude)
        else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
        self = place
    }
}
