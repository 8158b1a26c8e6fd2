import ConfigurationFiles
import HouseCalendar
import LinuxSystem
import Presentation
import ProtocolCore
import TestSupport
import Testing

struct TariffRecordTests {
    private static var record: TariffRecord {
        var record = TariffRecord(currency: "EUR", price: 0.34)
        record.standingCharge = 0.42
        record.co2 = 380
        var night = TariffRateRecord(name: "the \"quiet\" night", price: -0.05)
        (night.from, night.to, night.days) = ("22:00", "06:15", "mon fri")
        record.rates = [night, TariffRateRecord(name: "weekend", price: 0.28)]
        record.rates[1].days = "sat sun"
        record.rates[1].co2 = 300
        return record
    }

    private func mistakes(_ change: (inout TariffRecord) -> Void) -> String {
        var record = Self.record
        change(&record)
        do throws(ConfigurationError) {
            _ = try record.tariff()
            return ""
        } catch {
            return error.mistakes.map { "\($0)" }.joined(separator: "; ")
        }
    }

    @Test("A tariff is written and read without a change")
    func roundTrip() throws {
        let tariff = try Self.record.tariff()
        #expect(tariff.rates.map(\.price) == [-0.05, 0.28] && tariff.rates[0].days == [0, 4])
        #expect(tariff.rates[0].from == 1320 && tariff.rates[0].to == 375 && tariff.standingCharge == 0.42)
        #expect(TariffRecord(tariff) == Self.record)
        #expect(
            Self.record.lines == [
                "EUR 0.34 per kWh, 380 g CO2 per kWh, EUR 0.42 per day",
                "  the \"quiet\" night: EUR -0.05, 22:00 to 06:15, mon fri",
                "  weekend: EUR 0.28, all day, sat sun, 300 g CO2 per kWh",
            ])
    }

    @Test("Wrong values are reported and not written")
    func wrongValues() throws {
        #expect(mistakes { $0.price = .nan }.contains("[tariff] price: "))
        #expect(mistakes { $0.currency = "" }.contains("[tariff] currency: "))
        #expect(mistakes { $0.rates[0].from = "22:10" }.contains("on the quarter of an hour"))
        #expect(mistakes { $0.rates[0].days = "caturday" }.contains("days: "))
        #expect(mistakes { $0.rates[0].name = "tariff" }.contains("cannot be the name of a rate"))
        #expect(mistakes { $0.rates[0].name = "" }.contains("cannot be the name of a rate"))
        #expect(mistakes { $0.rates[1].name = $0.rates[0].name }.contains("several rates have the name"))
        let folder = TestFolder()
        let store = TariffStore(path: folder.path + "/new/tariff.toml")
        #expect(try store.read() == nil)
        try store.write(Self.record)
        var wrong = Self.record
        wrong.price = .infinity
        #expect(throws: ConfigurationError.self) { try store.write(wrong) }
        #expect(try store.read() == Self.record.tariff())
        try store.remove()
        try store.remove()
        #expect(try store.read() == nil)
    }

    @Test("The text of any record is a tariff, or has mistakes")
    func anyTextIsQuoted() {
        var random = Fuzzing.random(31)
        let pieces = [
            "\"", "\\", "]", "[", "\n", "\u{0}", "\u{7f}", "é", "#", "=", "a", "\u{2028}", "tariff", ".", "'",
        ]
        for _ in FuzzRounds(500) {
            var record = Self.record
            let text = { (random: inout SeededRandom) in
                (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
            }
            record.rates[0].name = text(&random)
            record.currency = text(&random)
            guard let tariff = try? record.tariff() else { continue }
            #expect(tariff.currency == record.currency && tariff.rates[0].name == record.rates[0].name)
        }
    }
}
