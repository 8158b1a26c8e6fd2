import ConfigurationFiles
@testable import HouseCalendar
import Testing

struct TariffTests {
    private static let file = """
        [tariff]
        currency = "EUR"
        price = 0.34
        co2 = 380
        standing_charge = 0.42

        [night]
        from = "22:00"
        to = "06:00"
        price = 0.24

        [weekend]
        days = "sat sun"
        price = 0.28
        co2 = 300
        """

    private func read(_ text: String) throws -> Tariff { try Tariff(Array(text.utf8), file: "tariff.toml") }

    @Test("The first matching rate applies") func theFirstRateThatHoldsCounts() throws {
        let tariff = try read(Self.file)
        // 20 November 2026 is a Friday. Local time is an hour ahead of UTC.
        let zone = ZoneOffsets(initial: 3600)
        let midnight = 1_795_129_200
        func price(_ hours: Double) -> Double { tariff.rate(at: midnight + Int(hours * 3600), zone: zone).price }
        #expect(
            [0, 5.75, 6, 12, 21.75, 22, 24, 29.75, 30, 46].map(price) == [
                0.24, 0.24, 0.34, 0.34, 0.34, 0.24, 0.24, 0.24, 0.28, 0.24,
            ])
        #expect(tariff.standingCharge == 0.42 && tariff.currency == "EUR")
    }

    @Test("The days of a rate across midnight are those on which the rate starts")
    func aRateOverMidnightHasTheDaysOnWhichItBegins() throws {
        let rate = try read(Self.file + "\n[party]\nfrom = \"20:00\"\nto = \"04:00\"\ndays = \"sat\"\nprice = 1\n")
            .rates[2]
        #expect(rate.holds(minute: 1200, day: 5) && rate.holds(minute: 0, day: 6))
        #expect(!rate.holds(minute: 0, day: 5) && !rate.holds(minute: 1200, day: 6) && !rate.holds(minute: 240, day: 6))
    }

    @Test("Costs and emissions are computed and added") func costAndEmissionsAdd() throws {
        let tariff = try read(Self.file)
        let night = tariff.cost(ofMilliwattHours: 2e6, at: 1_795_129_200, zone: ZoneOffsets(initial: 3600))
        #expect(night == Cost(amount: 0.48, co2Grams: 760))
        let saturday = tariff.cost(
            ofMilliwattHours: 1e6, at: 1_795_129_200 + 36 * 3600, zone: ZoneOffsets(initial: 3600))
        #expect(saturday == Cost(amount: 0.28, co2Grams: 300))
        #expect((saturday + saturday).co2Grams == 600 && (saturday + night).co2Grams == 1060)
        #expect((saturday + Cost(amount: 1, co2Grams: nil)).co2Grams == nil)
    }

    @Test(
        "Each mistake is reported with its table and key",
        arguments: [
            ("[night]\nprice = 0.1", "[tariff]: missing: [tariff] with the default price of a kWh"),
            ("[tariff]\ncurrency = \"EUR\"", "[tariff]: missing: price = ..., per kWh"),
            (
                "[tariff]\nprice = \"0.3\"",
                "[tariff] price: expected a number, without quotation marks, not the string \"0.3\""
            ),
            (
                "[tariff]\nprice = 0.3\n[night]\nprice = 0.1\nfrom = \"22:10\"",
                "[night] from: \"22:10\" is out of range; allowed: \"00:00\" to \"24:00\", on the quarter of an hour"
            ),
            (
                "[tariff]\nprice = 0.3\n[x]\nprice = 0.1\nfrom = \"08:00\"\nto = \"08:00\"",
                "[x] to: \"from\" and \"to\" are equal; delete both for the whole day"
            ),
            (
                "[tariff]\nprice = 0.3\n[x]\nprice = 0.1\ndays = \"sat sonntag\"",
                "[x] days: expected \"mon\", \"tue\", \"wed\", \"thu\", \"fri\", \"sat\" or \"sun\", not \"sonntag\""
            ),
            ("[tariff]\nprice = 0.3\nco = 1", "[tariff] co: unknown key; did you mean co2?"),
        ])
    func whatIsWrongIsSaid(text: String, expected: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.mistakes.map(\.description).contains(expected) == true, "\(error.map { "\($0)" } ?? "")")
    }
}
