import HouseCalendar
import PowerHistory
import Presentation
import Testing

struct MonthReportTests {
    private static let zone = ZoneOffsets.utc
    private static let tariff = Tariff(currency: "EUR", otherwise: Tariff.Rate(name: "", price: 0.5, co2: 400))
    /// September and October 2026.
    private let months = CalendarPeriod.all(.month, from: 1_788_220_800, to: 1_793_491_200, zone: zone) ?? []

    private func report(_ month: Int, _ step: CalendarStep, _ appliances: [(String, Double)]) throws -> EnergyReport {
        let period = months[month]
        let periods = try #require(CalendarPeriod.all(step, from: period.from, to: period.to, zone: Self.zone))
        var report = EnergyReport(step: step, zone: Self.zone, tariff: Self.tariff)
        for (name, kilowattHours) in appliances {
            // The energy grows from day to day.
            let energies = periods.enumerated().map { index, period in
                PeriodEnergy(period: period, milliwattHours: kilowattHours * 1e6 * Double(index + 1))
            }
            report.add(name, energies, quarters: energies)
        }
        return report
    }

    @Test("The page has the sums, the best and the worst day, each appliance, and the change since the preceding month")
    func page() throws {
        let page = MonthReport(
            months[1], until: months[1].to, days: try report(1, .day, [("<Lamp>", 0.01), ("Heater & Co", 0.1)]),
            before: try report(0, .month, [("Heater & Co", 62)]), baseLoad: nil, budget: nil
        ).html
        #expect(!page.contains("Budget"))
        #expect(page.contains("<title>Energy in Oct 2026</title>"))
        // 31 days: 496 times the energy of the first day.
        #expect(page.contains("<strong>54.56 kWh</strong>, 27.28 EUR, 21.8 kg of CO2."))
        #expect(page.contains("The preceding month had 62.00 kWh (-12 %)."))
        #expect(page.contains("Least energy: 0.11 kWh on 1 Oct 2026. Most energy: 3.41 kWh on 31 Oct 2026."))
        #expect(page.components("<rect ") == 31)
        #expect(page.contains("<tr><th>Heater &amp; Co</th><td>49.60 kWh</td><td>90.9 %</td><td>24.80 EUR</td>"))
        #expect(page.contains("<th>&lt;Lamp&gt;</th>") && !page.contains("<Lamp>"))
        #expect(page.contains("It is not known"))
    }

    @Test("The page compares the month with the budget")
    func budget() throws {
        let month = months[1]
        let quarters = try #require(CalendarPeriod.all(.quarter, from: month.from, to: month.to, zone: Self.zone))
        let energies = [quarters.map { PeriodEnergy(period: $0, milliwattHours: 31e6 / Double(quarters.count)) }]
        let use = BudgetUse(
            .cost(20, currency: "EUR"), in: month, until: month.to, energies, tariff: Self.tariff, zone: Self.zone)
        let page = MonthReport(
            month, until: month.to, days: try report(1, .day, [("Lamp", 0.01)]),
            before: try report(0, .month, []), baseLoad: nil, budget: use
        ).html
        #expect(page.contains("<p>Budget: 15.50 of 20.00 EUR used (78 %), day 31 of 31.</p>"))
    }

    @Test("The base load is exceeded in 95 % of the time, and appliances with less than a day of data do not count")
    func baseLoad() throws {
        let month = months[1]
        let quarters = try #require(CalendarPeriod.all(.quarter, from: month.from, to: month.to, zone: Self.zone))
        // 10 W and 30 W, but nothing in 4 % of the time.
        let lamp = quarters.map { PeriodEnergy(period: $0, milliwattHours: 2500) }
        let heater = quarters.enumerated().map { index, period in
            PeriodEnergy(period: period, milliwattHours: index.isMultiple(of: 25) ? 0 : 7500, mean: 30)
        }
        let unused = quarters.map { PeriodEnergy(period: $0) }
        let load = try #require(BaseLoad(of: [lamp, heater, unused], tariff: Self.tariff, zone: Self.zone))
        #expect(load.watts == 40)
        #expect(abs(load.milliwattHours - 40 * 744 * 1000) < 1)
        #expect(abs((load.cost?.amount ?? 0) - 14.88) < 0.001)
        let short = lamp.enumerated().map { $0 < 95 ? $1 : PeriodEnergy(period: $1.period) }
        #expect(BaseLoad(of: [short, heater], tariff: nil, zone: Self.zone)?.watts == 30)
        #expect(BaseLoad(of: [short], tariff: nil, zone: Self.zone) == nil)
        #expect(BaseLoad(of: [], tariff: nil, zone: Self.zone) == nil)
    }
}

extension String {
    /// Returns how often the text occurs.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
