import ConfigurationFiles
import HouseCalendar
import Testing

@Suite("location.toml")
struct LocationFileTests {
    private func place(_ text: String) throws(ConfigurationError) -> Daylight {
        try Daylight(Array(text.utf8), file: "location.toml")
    }

    @Test("Latitude and longitude are parsed")
    func isRead() throws {
        let place = try place("[location]\nlatitude = 52.52\nlongitude = -13\n")
        #expect(place.latitude == 52.52 && place.longitude == -13)
    }

    @Test(
        "A file with a mistake is rejected",
        arguments: [
            "", "[location]\n", "[location]\nlatitude = 52.52\n", "[location]\nlatitude = 91\nlongitude = 0\n",
            "[location]\nlatitude = 52\nlongitude = 13\naltitude = 30\n",
            "[location]\nlatitude = \"52\"\nlongitude = 0\n",
        ])
    func mistakes(_ text: String) {
        let error = #expect(throws: ConfigurationError.self) { try place(text) }
        #expect(error?.mistakes.isEmpty == false)
    }
}
