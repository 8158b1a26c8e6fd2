import ConfigurationFiles
import HTTPTypes
import HouseCalendar
import Hummingbird
import LinuxSystem
import PowerHistory
import Presentation

extension Dashboard {
    static let budgetRoutes = [
        APIRoute(.get, "/api/v1/budget") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return try await dashboard.budget()
        },
        APIRoute(.post, "/api/v1/budget") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let body = try await BudgetBody.read(from: request)
            try await dashboard.changeBudget { try $0.write(try body.budget(in: try $1.readOrFault()?.currency)) }
            return try await dashboard.budget()
        },
        APIRoute(.delete, "/api/v1/budget") { dashboard, request, _ in
            _ = try QueryParameters(request)
            try await dashboard.changeBudget { store, _ in try store.remove() }
            return Response(status: .noContent)
        },
    ]

    private func changeBudget(_ work: @escaping @Sendable (BudgetStore, TariffStore) throws -> Void) async throws {
        try await HistoryThreads.run { [settings] in
            do {
                try work(settings.budget, settings.tariff)
            } catch let fault as Fault {
                throw fault
            } catch {
                throw Fault(storing: error)
            }
        }
        budgetWatch.checkSoon()
    }

    private func budget() async throws -> Response {
        let budget = try await HistoryThreads.run { [store = settings.budget] () throws(Fault) -> Budget? in
            do { return try store.read() } catch { throw Fault(storing: error) }
        }
        guard let budget else { return Response(status: .noContent) }
        return Response(json: jsonLine(BudgetRecord(budget, try await use(of: budget), zone: .aroundNow)))
    }

    /// Returns the use of a budget in the current month; nil without data, without a history, or if the tariff does not
    /// fit the budget.
    ///
    /// - Throws: ``Fault``.
    func use(of budget: Budget) async throws -> BudgetUse? {
        guard history != nil else { return nil }
        await board.begin()
        let counters = await board.board.counters
        return try await reading { [settings] history in
            try BudgetUse(
                budget, at: Int(WallTime.now.milliseconds / 1000), from: history, upTo: counters,
                tariff: try settings.tariff.readOrFault(), zone: .aroundNow)
        }
    }
}

extension ZoneOffsets {
    /// The local time zone for more than a month before and after the current time.
    fileprivate static var aroundNow: ZoneOffsets {
        let now = Int(WallTime.now.milliseconds / 1000)
        return .local(from: now - 70 * 86_400, to: now + 70 * 86_400)
    }
}

struct BudgetBody: JSONBody {
    static let keys: Set = ["cost", "activeEnergy"]

    /// The amount per month in the currency of the tariff, 0.01 to 1000000000.
    var cost: Double?
    /// The energy per month in Wh, 1 to 1000000000.
    var activeEnergy: Double?

    /// - Parameter currency: the currency of the tariff; nil without a tariff.
    func budget(in currency: String?) throws(Fault) -> Budget {
        switch (cost, activeEnergy) {
        case (let cost?, nil):
            guard Budget.costLimits.contains(cost) else {
                throw .outOfRange("\"cost\" is out of range", hint: "0.01 to 1000000000")
            }
            guard let currency else {
                throw Fault(.conflict, "a budget in a currency requires a tariff", hint: "set the price of a kWh first")
            }
            return .cost(cost, currency: currency)
        case (nil, let energy?):
            guard Budget.energyLimits.contains(energy / 1000) else {
                throw .outOfRange("\"activeEnergy\" is out of range", hint: "1 to 1000000000 Wh")
            }
            return .energy(kilowattHours: energy / 1000)
        case (nil, nil), (.some, .some): throw .malformed("the body needs one of \"cost\" and \"activeEnergy\"")
        }
    }
}
