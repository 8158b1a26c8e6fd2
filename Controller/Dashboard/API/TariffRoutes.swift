import ConfigurationFiles
import HTTPTypes
import HouseCalendar
import Hummingbird
import LinuxSystem
import Presentation

extension Dashboard {
    static let tariffRoutes = [
        APIRoute(.get, "/api/v1/tariff") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let tariff = try await HistoryThreads.run { [store = dashboard.settings.tariff] in try store.readOrFault() }
            return tariff.map { Response(json: jsonLine(TariffRecord($0))) } ?? Response(status: .noContent)
        },
        APIRoute(.post, "/api/v1/tariff") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let record = try await TariffBody.read(from: request).record
            do throws(ConfigurationError) {
                _ = try record.tariff()
            } catch {
                throw Fault.outOfRange(error.mistakes.map { "\($0)" }.joined(separator: "; "))
            }
            try await dashboard.changeTariff { try $0.write(record) }
            return Response(json: jsonLine(record))
        },
        APIRoute(.delete, "/api/v1/tariff") { dashboard, request, _ in
            _ = try QueryParameters(request)
            try await dashboard.changeTariff { try $0.remove() }
            return Response(status: .noContent)
        },
    ]

    private func changeTariff(_ work: @escaping @Sendable (TariffStore) throws -> Void) async throws {
        try await HistoryThreads.run { [store = settings.tariff] in
            do { try work(store) } catch { throw Fault(storing: error) }
        }
        budgetWatch.checkSoon()
    }
}

extension TariffStore {
    /// Reads the tariff, or returns nil without one. It is read for each request, so that a new price applies at once.
    func readOrFault() throws(Fault) -> Tariff? {
        do { return try read() } catch { throw Fault(storing: error) }
    }
}

/// A ``TariffRecord`` without unknown keys.
struct TariffBody: JSONBody {
    static let keys: Set = ["currency", "price", "co2", "standingCharge", "rates"]
    /// 64 rates with names of 64 escaped characters have less.
    static let limit = 131_072

    var currency: String
    var price: Double
    var co2: Double?
    var standingCharge: Double?
    var rates: [Strictly<TariffRateRecord>]

    var record: TariffRecord {
        var record = TariffRecord(currency: currency, price: price)
        (record.co2, record.standingCharge, record.rates) = (co2, standingCharge, rates.map(\.value))
        return record
    }
}

extension TariffRateRecord: JSONBody {
    static let keys: Set = ["name", "price", "from", "to", "days", "co2"]
}

extension Fault {
    /// The fault for a file that cannot be read or written.
    init(storing error: any Error) {
        if let error = error as? FileError {
            self = .unavailable("\(error)", hint: error.hint)
        } else {
            self.init(.serviceUnavailable, words: "\(error)")
        }
    }
}
