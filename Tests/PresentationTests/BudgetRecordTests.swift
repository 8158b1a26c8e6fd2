import ConfigurationFiles
import Foundation
import HouseCalendar
import PowerHistory
import Presentation
import ProtocolCore
import TestSupport
import Testing

struct BudgetRecordTests {
    private static let november = 1_793_491_200
    private static let tariff = Tariff(
        currency: "EUR", otherwise: .init(name: "", price: 0.5), standingCharge: 0.4)

    /// The use after ten days with two plugs, of which the second one has data in the last day only.
    private func use(_ budget: Budget) throws -> BudgetUse? {
        let now = Self.november + 10 * 86_400
        func all(_ step: CalendarStep) throws -> [CalendarPeriod] {
            try #require(CalendarPeriod.all(step, from: Self.november, to: now, zone: .utc))
        }
        let quarters = try all(.quarter)
        let lamp = quarters.map { PeriodEnergy(period: $0, milliwattHours: 2e6 / 96, mean: 83) }
        let kettle = quarters.map { period in
            let isKnown = period.from >= now - 86_400
            return PeriodEnergy(period: period, milliwattHours: isKnown ? 1e6 / 96 : 0)
        }
        let month = try #require(try all(.month).first)
        return BudgetUse(budget, in: month, until: now, [lamp, kettle], tariff: Self.tariff, zone: .utc)
    }

    @Test("The energies of all plugs are summed, and a quarter is known if one plug has data")
    func sums() throws {
        let use = try #require(try use(.energy(kilowattHours: 50)))
        #expect(use.known == 10 * 86_400 && abs(use.used - 21) < 1e-9)
        #expect(use.words == "21.0 of 50.0 kWh used (42 %), day 10 of 30, projection 63.0 kWh")
        let record = BudgetRecord(use.budget, use, zone: .utc)
        #expect(record.activeEnergy == 50_000 && record.cost == nil && record.currency == nil)
        #expect(record.month?.used == 21_000 && record.month?.projected == 63_000)
        #expect(record.month?.from == "2026-11-01T00:00:00.000Z")
        #expect(record.month?.elapsed == 864_000 && record.month?.covered == 864_000)
    }

    @Test("A budget in a currency is shown with its standing charge")
    func costs() throws {
        let use = try #require(try use(.cost(20, currency: "EUR")))
        #expect(use.words.hasPrefix("14.50 of 20.00 EUR used (73 %), day 10 of 30, projection 43.50 EUR"))
        #expect(use.words.hasSuffix("standing charge included"))
        #expect(BudgetNotices.Threshold.usedUp.title(use) == "The budget for Nov 2026 is used up")
        #expect(BudgetRecord(use.budget, use, zone: .utc).month?.used == 14.5)
        #expect(try self.use(.cost(20, currency: "CHF")) == nil)
    }

    @Test("A budget is written and read without a change, and a wrong one is not written")
    func storing() throws {
        let folder = TestFolder()
        let store = BudgetStore(path: folder.path + "/new/budget.toml")
        #expect(try store.read() == nil)
        for budget in [Budget.cost(60.5, currency: "a \"€\""), .energy(kilowattHours: 1e-3)] {
            try store.write(budget)
            #expect(try store.read() == budget)
        }
        for wrong in [Budget.cost(1, currency: ""), .cost(.nan, currency: "EUR"), .energy(kilowattHours: .infinity)] {
            #expect(throws: ConfigurationError.self) { try store.write(wrong) }
        }
        #expect(try store.read() == .energy(kilowattHours: 1e-3))
        try store.remove()
        try store.remove()
        #expect(try store.read() == nil)
    }

    @Test("The text of any budget is read without a change, or has mistakes")
    func anyTextIsQuoted() {
        var random = Fuzzing.random(47)
        let pieces = ["\"", "\\", "]", "\n", "\u{0}", "\u{7f}", "é", "#", "=", "a", "\u{2028}", "'"]
        let folder = TestFolder()
        let store = BudgetStore(path: folder.path + "/budget.toml")
        for _ in FuzzRounds(200) {
            let count = Int.random(in: 0...5, using: &random)
            let currency = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            let budget = Budget.cost(Double(bitPattern: random.next()), currency: currency)
            guard (try? store.write(budget)) != nil else { continue }
            #expect((try? store.read()) == budget)
        }
    }
}
