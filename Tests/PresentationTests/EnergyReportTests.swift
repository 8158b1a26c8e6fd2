import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation
import Terminal
import Testing

struct EnergyReportTests {
    private static let days = CalendarPeriod.all(.day, from: 1_795_046_400, to: 1_795_305_600, zone: .utc) ?? []
    private static let tariff = Tariff(
        currency: "EUR", otherwise: Tariff.Rate(name: "", price: 0.5, co2: 400), standingCharge: 0.4)

    private func energies(_ kilowattHours: [Double]) -> [PeriodEnergy] {
        zip(Self.days, kilowattHours).map { period, energy in
            PeriodEnergy(
                period: period, milliwattHours: energy * 1e6, coveredMilliseconds: 86_400_000, mean: energy * 1000 / 24,
                least: 0, greatest: 2000)
        }
    }

    private func quarters(_ energies: [PeriodEnergy]) -> [PeriodEnergy] {
        energies.flatMap { day in
            let quarters = CalendarPeriod.all(.quarter, from: day.period.from, to: day.period.to, zone: .utc) ?? []
            return quarters.map {
                PeriodEnergy(period: $0, milliwattHours: day.milliwattHours / Double(quarters.count))
            }
        }
    }

    private func report(_ appliances: [(String, [PeriodEnergy])], tariff: Tariff? = tariff) -> EnergyReport {
        var report = EnergyReport(step: .day, zone: .utc, tariff: tariff)
        for (name, energies) in appliances { report.add(name, energies, quarters: quarters(energies)) }
        return report
    }

    @Test("The record of a day contains exactly the times of that day in the time zone of the report")
    func containedTimes() throws {
        // Midnight in Tokyo: 15:00 UTC.
        let zone = ZoneOffsets(initial: 32_400)
        let days = try #require(CalendarPeriod.all(.day, from: 1_795_046_400, to: 1_795_132_800, zone: zone))
        var report = EnergyReport(step: .day, zone: zone, tariff: nil)
        report.add("Kettle", days.map { PeriodEnergy(period: $0, milliwattHours: 1e6) }, quarters: [])
        let records = report.records
        #expect(records.count == 2)
        for (hour, day) in [(0, 0), (14, 0), (15, 1), (23, 1)] {
            let time = WallTime(nanosecondsSince1970: Int64(1_795_046_400 + hour * 3600) * 1_000_000_000)
            #expect(records.map { $0.contains(time) } == [day == 0, day == 1], "\(hour)")
        }
    }

    @Test("The table has bars and a sum") func aTableHasBarsAndASum() {
        let lines = report([("Kettle", energies([1, 0.5, 2]))]).lines(width: 80, blocks: true).map(\.text)
        #expect(lines.contains { $0.contains("20 Nov 2026") && $0.contains("500 Wh") && $0.contains("0.25 EUR") })
        #expect(lines.contains { $0.hasPrefix("sum") && $0.contains("3500 Wh") && $0.contains("1.75 EUR") })
        #expect(lines.contains { $0.contains("standing charge of 0.40 EUR") })
        let bars = lines.map { $0.count { $0 == "█" } }.filter { $0 > 0 }
        #expect(bars == [bars[2] / 2, bars[2] / 4, bars[2]])
        #expect(bars[2] >= 16 && lines.map(\.count).max() == 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test("Several appliances are compared at the top") func severalAppliancesAreComparedFirst() {
        let lines = report([("Lamp", energies([0.1, 0.1, 0.1])), ("Heater", energies([3, 2, 1]))])
            .lines(width: 80, blocks: false).map(\.text)
        #expect(lines[0].hasPrefix("appliance") && lines[1].hasPrefix("Heater") && lines[2].hasPrefix("Lamp"))
        #expect(lines[1].contains("95.2 %") && lines[1].hasSuffix("########################") && lines[1].count <= 80)
        #expect(lines[3].hasPrefix("all") && lines[3].contains("6300 Wh") && lines[3].contains("3.15 EUR"))
    }

    @Test("Estimated energy and missing samples are marked") func whatIsGuessedAndWhatIsMissingIsSaid() {
        var days = energies([1, 1, 1])
        days[0].estimatedMilliwattHours = 5e5
        days[0].coveredMilliseconds = 43_200_000
        days[1] = PeriodEnergy(period: days[1].period)
        let lines = report([("Lamp", days)], tariff: nil).lines(width: 80, blocks: true).map(\.text)
        #expect(lines.contains { $0.contains("~1000 Wh") && $0.contains("50 %") })
        #expect(lines.count { $0.contains("Nov 2026") } == 2)
        #expect(lines.contains { $0.hasPrefix("~ includes energy") } && !lines.contains { $0.contains("EUR") })
    }

    @Test("Unknown energy is shown as a question mark, not as zero") func whatIsNotKnownIsNoZero() {
        let lines = report([("Lamp", energies([1])), ("Attic", [])]).lines(width: 80, blocks: true).map(\.text)
        #expect(lines[2].split(separator: " ") == ["Attic", "?", "?", "?", "?"])
    }

    /// A truncated number would be a different number.
    @Test("A narrow terminal omits complete columns") func aNarrowTerminalLosesWholeColumns() {
        let figures = Set(report([("Kettle", energies([1, 0.5, 2]))]).lines(width: nil, blocks: true).flatMap(words))
        for width in 20..<80 {
            let lines = report([("Kettle", energies([1, 0.5, 2]))]).lines(width: width, blocks: true).dropLast(2)
            #expect(lines.flatMap(words).allSatisfy { figures.contains($0) || $0.contains("█") }, "\(width) columns")
        }
    }

    private func words(_ line: StyledLine) -> [String] { line.text.split(separator: " ").map(String.init) }

    @Test("A report without energy has no lines") func ofNothingNothingIsDrawn() {
        #expect(report([("Lamp", [])]).lines(width: 80, blocks: true).isEmpty)
    }

    @Test("Records and CSV have the same figures as the table") func scriptsGetTheSameFigures() throws {
        let report = report([("=Lamp, \"big\"", energies([1]))])
        let record = try #require(report.records.first)
        #expect(record.activeEnergy == 1000 && record.cost == 0.5 && record.co2 == 400 && record.currency == "EUR")
        #expect(record.from == "2026-11-19T00:00:00.000Z" && record.covered == 86_400)
        #expect(
            report.csv[1].hasPrefix("\"'=Lamp, \"\"big\"\"\",2026-11-19T00:00:00.000Z,2026-11-20T00:00:00.000Z,1000.0,")
        )
        #expect(report.csv[0].split(separator: ",").count == report.csv[1].split(separator: ",").count - 1)
    }

    @Test(
        "In CSV, special characters of a name are escaped even before a combining character",
        arguments: [
            (",\u{301}=", "\",\u{301}=\""), ("a\"\u{301}", "\"a\"\"\u{301}\""), ("=\u{301}1", "'=\u{301}1"),
            ("\t=1", "' =1"), ("a\u{1B}[2Jb", "a[2Jb"), ("Café", "Café"), ("a\r\nb", "a  b"),
        ])
    func aNameIsQuotedByItsScalars(name: String, cell: String) {
        let line = report([(name, energies([1]))]).csv[1]
        #expect(line.unicodeScalars.starts(with: (cell + ",2026-11-19").unicodeScalars))
    }
}
