import ConfigurationFiles
import HouseCalendar
import Testing

struct BudgetTests {
    /// Berlin in October 2026: the clock is set back on the 25th.
    private static let berlin = ZoneOffsets(initial: 7200, transitions: [.init(time: 1_792_890_000, seconds: 3600)])
    /// 1 November 2026, 00:00 UTC.
    private static let november = 1_793_491_200
    private static let day = 86_400
    private static let hundred = Budget.energy(kilowattHours: 100)
    private static let tariff = Tariff(
        currency: "EUR", otherwise: .init(name: "", price: 0.5), standingCharge: 0.4)

    private func month(_ second: Int, _ zone: ZoneOffsets = .utc) throws -> CalendarPeriod {
        try #require(CalendarPeriod.all(.month, from: second, to: second + 1, zone: zone)?.first)
    }

    /// The use at a time if each day with data uses `daily` kWh.
    private func use(
        _ budget: Budget, at now: Int, zone: ZoneOffsets = .utc, daily: Double, tariff: Tariff? = nil,
        knows: (Int) -> Bool = { _ in true }
    ) throws -> BudgetUse? {
        let month = try month(now, zone)
        // Quarters of the neighbouring months do not count.
        let all = CalendarPeriod.all(
            .quarter, from: month.from - 7200, to: now + Self.day, zone: zone)
        let quarters = try #require(all).map { period in
            BudgetUse.Quarter(period, milliwattHours: knows(period.from) ? daily / 96 * 1e6 : nil)
        }
        return BudgetUse(budget, in: month, until: now, quarters, tariff: tariff, zone: zone)
    }

    private func isNear(_ value: Double?, _ wanted: Double) -> Bool { value.map { abs($0 - wanted) < 1e-6 } ?? false }

    @Test("The projection continues the use of the month so far until its last second")
    func projection() throws {
        let use = try #require(try use(Self.hundred, at: Self.november + 10 * Self.day, daily: 4))
        #expect(use.elapsed == 10 * Self.day && use.known == use.elapsed)
        #expect(use.begunDays == 10 && use.days == 30)
        #expect(isNear(use.used, 40) && isNear(use.share, 0.4) && isNear(use.projected, 120) && use.isAhead)
        let end = Self.november + 30 * Self.day
        let whole = try #require(
            BudgetUse(
                Self.hundred, in: try month(Self.november), until: end + 99, try quarters(to: end), tariff: nil,
                zone: .utc))
        #expect(isNear(whole.used, 120) && isNear(whole.projected, 120) && whole.elapsed == 30 * Self.day)
    }

    private func quarters(to end: Int) throws -> [BudgetUse.Quarter] {
        try #require(CalendarPeriod.all(.quarter, from: Self.november, to: end, zone: .utc))
            .map { BudgetUse.Quarter($0, milliwattHours: 4e6 / 96) }
    }

    @Test("A new month begins at local midnight without any use")
    func monthBoundary() throws {
        let zone = ZoneOffsets(initial: 3600)
        let midnight = Self.november - 3600
        let before = try #require(try use(Self.hundred, at: midnight - 1, zone: zone, daily: 4))
        #expect(before.month.start.month == 10 && isNear(before.used, 124))
        #expect(try use(Self.hundred, at: midnight, zone: zone, daily: 4) == nil)
        let after = try #require(try use(Self.hundred, at: midnight + 900, zone: zone, daily: 4))
        #expect(after.month.start.month == 11 && isNear(after.used, 4.0 / 96) && after.begunDays == 1)
    }

    @Test("The hour that is repeated when the clock is set back counts like any other")
    func daylightSaving() throws {
        // Noon of 26 October: 25 days of 24 hours, an hour, and half a day.
        let now = 1_793_012_400
        let use = try #require(try use(Self.hundred, at: now, zone: Self.berlin, daily: 4.8))
        #expect(use.month.to - use.month.from == 31 * Self.day + 3600)
        #expect(use.elapsed == 25 * Self.day + 3600 + Self.day / 2 && use.begunDays == 26 && use.days == 31)
        #expect(isNear(use.used, 25 * 4.8 + 0.2 + 2.4) && isNear(use.projected, 31 * 4.8 + 0.2))
    }

    @Test("Days without data add nothing, and the projection uses the time with data only")
    func daysWithoutData() throws {
        let dark = (Self.november + 3 * Self.day)..<(Self.november + 8 * Self.day)
        let use = try #require(
            try use(Self.hundred, at: Self.november + 10 * Self.day, daily: 4) { !dark.contains($0) })
        #expect(use.known == 5 * Self.day && use.elapsed == 10 * Self.day)
        #expect(isNear(use.used, 20) && isNear(use.projected, 20 + 20 * 4))
        // A history that began on the 9th.
        let new = try #require(
            try self.use(Self.hundred, at: Self.november + 10 * Self.day, daily: 4) {
                $0 >= Self.november + 8 * Self.day
            })
        #expect(new.known == 2 * Self.day && isNear(new.used, 8) && isNear(new.projected, 8 + 20 * 4))
    }

    @Test("The first day has no projection, and a month without data has no use")
    func unknown() throws {
        let first = try #require(try use(Self.hundred, at: Self.november + Self.day - 1, daily: 90))
        #expect(first.projected == nil && !first.isAhead && first.share > 0.89)
        #expect(try use(Self.hundred, at: Self.november + Self.day, daily: 90)?.isAhead == true)
        #expect(try use(Self.hundred, at: Self.november + 9 * Self.day, daily: 4) { _ in false } == nil)
        let none = BudgetUse(
            Self.hundred, in: try month(Self.november), until: Self.november + Self.day, [], tariff: nil, zone: .utc)
        #expect(none == nil)
    }

    @Test("A cost includes the standing charge of each day that has begun, and requires a tariff in its currency")
    func standingCharge() throws {
        let now = Self.november + 9 * Self.day + Self.day / 2
        let budget = Budget.cost(60, currency: "EUR")
        let use = try #require(try use(budget, at: now, daily: 2, tariff: Self.tariff))
        #expect(use.begunDays == 10 && use.fixedCost == 0.4)
        #expect(isNear(use.used, 9.5 + 10 * 0.4) && isNear(use.projected, 30 + 30 * 0.4))
        #expect(try self.use(budget, at: now, daily: 2) == nil)
        #expect(try self.use(.cost(60, currency: "CHF"), at: now, daily: 2, tariff: Self.tariff) == nil)
        let energy = try #require(try self.use(Self.hundred, at: now, daily: 2, tariff: Self.tariff))
        #expect(energy.fixedCost == 0 && isNear(energy.used, 19))
    }

    @Test("The owner is notified once per month of each threshold")
    func notices() throws {
        var notices = BudgetNotices()
        func handle(_ days: Int, daily: Double, _ budget: Budget = Self.hundred) throws -> BudgetNotices.Threshold? {
            notices.handle(try #require(try use(budget, at: Self.november + days * Self.day, daily: daily)))
        }
        // 76 %, with a projection above the budget; then 84 %.
        #expect(try handle(19, daily: 4) == nil)
        #expect(try handle(21, daily: 4) == .ahead)
        #expect(try handle(22, daily: 4) == nil)
        #expect(try handle(24, daily: 4) == nil)
        #expect(try handle(26, daily: 4) == .usedUp)
        // A lower use, for example after a correction of the history, does not repeat any.
        #expect(try handle(24, daily: 4) == nil && handle(27, daily: 4) == nil)
        // The next month, of 31 days.
        #expect(try handle(30 + 22, daily: 4) == .ahead)
        #expect(try handle(30 + 30, daily: 4) == .usedUp)
        // 87 %, within the budget.
        #expect(try handle(61 + 29, daily: 3) == nil)
    }

    @Test("A used up budget needs no warning, a changed one starts again, and a withdrawn notification follows again")
    func changes() throws {
        var notices = BudgetNotices()
        let now = Self.november + 20 * Self.day
        let used = try #require(try use(.energy(kilowattHours: 50), at: now, daily: 4.5))
        #expect(notices.handle(used) == .usedUp && notices.handle(used) == nil)
        let ahead = try #require(try use(Self.hundred, at: now, daily: 4.5))
        #expect(notices.handle(ahead) == .ahead && notices.handle(ahead) == nil)
        notices.withdraw(.ahead)
        #expect(notices.handle(ahead) == .ahead && notices.handle(ahead) == nil)
    }

    @Test("A budget file has a cost with its currency or an energy")
    func file() throws {
        func read(_ text: String) throws -> Budget { try Budget(Array(text.utf8), file: "budget.toml") }
        #expect(try read("[budget]\ncost = 60\ncurrency = \"EUR\"\n") == .cost(60, currency: "EUR"))
        #expect(try read("[budget]\nenergy = 150.5\n") == .energy(kilowattHours: 150.5))
        for (text, words) in [
            ("", "[budget]"), ("[budget]\n", "a cost or an energy"), ("[budget]\ncost = 60\n", "currency"),
            ("[budget]\ncost = 60\nenergy = 1\ncurrency = \"EUR\"\n", "either a cost or an energy"),
            ("[budget]\nenergy = 1\ncurrency = \"EUR\"\n", "only a cost"), ("[budget]\nenergy = 0\n", "energy"),
            ("[budget]\nenergy = -1\n", "energy"), ("[budget]\ncost = nan\ncurrency = \"EUR\"\n", "cost"),
            ("[budget]\nenergie = 1\n", "unknown key"), ("[house]\nenergy = 1\n", "house"), ("[budget", "budget.toml"),
        ] {
            let error = #expect(throws: ConfigurationError.self, "\(text)") { try read(text) }
            #expect("\(try #require(error))".contains(words), "\(text)")
        }
    }
}
