import HouseCalendar
public import LinuxSystem
import PowerHistory
import Terminal

/// A period in the output of `plugctl history --json`, and of `--csv`, whose first line has the keys.
public struct EnergyRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The start: ISO 8601, local time with its offset.
    public var from: String
    /// The end, in the same format.
    public var to: String
    /// The energy in Wh.
    public var activeEnergy: Double
    /// The part of the energy in Wh that the plug counted during times without samples. Its distribution over these
    /// times is estimated.
    public var estimated: Double
    /// The time between samples that are at most 30 s apart, in seconds.
    public var covered: Double
    /// The mean active power in W; omitted without samples.
    public var meanActivePower: Double?
    /// The lowest active power in W; omitted without samples.
    public var minActivePower: Double?
    /// The highest active power in W; omitted without samples.
    public var maxActivePower: Double?
    /// The cost in `currency`; omitted without a tariff.
    public var cost: Double?
    /// The currency of the tariff; omitted without a cost.
    public var currency: String?
    /// The emissions in grams of CO2; omitted if the tariff does not define them.
    public var co2: Double?

    init(_ plug: String, _ row: EnergyReport.Row, currency: String?, zone: ZoneOffsets) {
        let energy = row.energy
        self.plug = plug
        from = Self.local(energy.period.from, zone)
        to = Self.local(energy.period.to, zone)
        activeEnergy = rounded(energy.milliwattHours / 1000, 3)
        estimated = rounded(energy.estimatedMilliwattHours / 1000, 3)
        covered = Double(energy.coveredMilliseconds) / 1000
        meanActivePower = energy.mean.map { rounded($0, 2) }
        minActivePower = energy.least
        maxActivePower = energy.greatest
        cost = row.cost.map { rounded($0.amount, 4) }
        self.currency = row.cost == nil ? nil : currency
        co2 = row.cost?.co2Grams.map { rounded($0, 1) }
    }

    static func local(_ second: Int, _ zone: ZoneOffsets) -> String {
        (WallTime(nanosecondsSince1970: 0) + .seconds(second)).iso8601(offset: zone.offset(at: Double(second)))
    }

    /// Returns true if the period includes the time.
    public func contains(_ time: WallTime) -> Bool {
        guard let begin = WallTime(iso8601: from), let end = WallTime(iso8601: to) else { return false }
        return begin <= time && time < end
    }

    /// The keys in the order of the columns.
    static let csvHeader =
        "plug,from,to,activeEnergy,estimated,covered,meanActivePower,minActivePower,maxActivePower,cost,currency,co2"

    /// A line of CSV (RFC 4180) without its line end.
    var csv: String {
        let numbers = [activeEnergy, estimated, covered, meanActivePower, minActivePower, maxActivePower, cost]
        return
            ([quoted(plug), from, to] + numbers.map { $0.map { "\($0)" } ?? "" }
            + [currency.map(quoted) ?? "", co2.map { "\($0)" } ?? ""]).joined(separator: ",")
    }

    /// Quotes a text for CSV and removes control characters. Names of plugs are untrusted: a text that a spreadsheet
    /// would interpret as a formula gets an apostrophe, which spreadsheets hide. The code works on Unicode scalars, as
    /// CSV readers do: in Swift a comma with a combining mark is a single character and not a comma.
    private func quoted(_ text: String) -> String {
        let plain = safeText(text).unicodeScalars
        let isFormula = plain.first { $0 != " " }.map { "=+-@".unicodeScalars.contains($0) } ?? false
        let safe = (isFormula ? "'".unicodeScalars : String.UnicodeScalarView()) + plain
        guard safe.contains(where: { $0 == "," || $0 == "\"" }) else { return String(safe) }
        var result = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in safe {
            if scalar == "\"" { result.append(scalar) }
            result.append(scalar)
        }
        result.append("\"")
        return String(result)
    }
}

extension EnergyReport {
    /// The records, one per appliance and period.
    public var records: [EnergyRecord] {
        appliances.flatMap { appliance in
            appliance.rows.map { EnergyRecord(appliance.name, $0, currency: tariff?.currency, zone: zone) }
        }
    }

    /// The lines of CSV with a header.
    public var csv: [String] { [EnergyRecord.csvHeader] + records.map(\.csv) }
}

/// Rounds to this number of decimals.
func rounded(_ value: Double, _ digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    return (value * scale).rounded() / scale
}

/// The base load of a house, in the dashboard's API.
public struct BaseLoadRecord: Codable, Hashable, Sendable {
    /// The power in W.
    public var activePower: Double
    /// The energy of this power in a year, in Wh.
    public var yearlyEnergy: Double
    /// The cost of this energy; omitted without a tariff.
    public var yearlyCost: Double?
    /// The currency of the tariff; omitted without a cost.
    public var currency: String?

    /// Creates the record.
    ///
    /// - Parameter days: the number of days over which the base load was computed.
    public init(_ load: BaseLoad, days: Int, currency: String?) {
        let years = 365 / Double(days)
        activePower = load.watts
        yearlyEnergy = load.milliwattHours * years / 1000
        yearlyCost = load.cost.map { $0.amount * years }
        self.currency = load.cost == nil ? nil : currency
    }
}
