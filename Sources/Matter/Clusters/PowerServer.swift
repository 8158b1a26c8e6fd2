import MatterWire
import ProtocolCore

/// The accuracy that the plug promises for a measurement (Matter 11.3). The meter is better; the limit includes
/// a meter that is not calibrated.
private struct Accuracy {
    /// MeasurementTypeEnum.
    let type: UInt64
    /// The smallest and the largest value, in the unit of the attribute.
    let least: Int64
    let most: Int64
    /// The largest error in hundredths of a percent.
    static let error: UInt64 = 500

    var tlv: TLVValue {
        .fields(
            (0, .unsigned(type)), (1, .boolean(true)), (2, .signed(least)), (3, .signed(most)),
            (4, .array([.fields((0, .signed(least)), (1, .signed(most)), (2, .unsigned(Self.error)))])))
    }

    static let voltage = Accuracy(type: 1, least: 0, most: 300_000)
    static let current = Accuracy(type: 2, least: 0, most: 20_000)
    static let power = Accuracy(type: 5, least: -5_000_000, most: 5_000_000)
    static let energy = Accuracy(type: 14, least: 0, most: 1_000_000_000_000)
}

/// Electrical Power Measurement (Matter application clusters 2.13).
struct PowerServer: ClusterServer {
    /// PowerMode: alternating current.
    private static let alternatingCurrent: UInt64 = 2
    private static let accuracies = [Accuracy.voltage, .current, .power]

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        let reading = state.values?.reading
        return switch try known(attribute, ElectricalPowerMeasurement.Attribute.self, or: .unsupportedAttribute) {
        case .powerMode: .unsigned(Self.alternatingCurrent)
        case .numberOfMeasurementTypes: .unsigned(UInt64(Self.accuracies.count))
        case .accuracy: .array(Self.accuracies.map(\.tlv))
        case .voltage: reading?.voltage.map { .signed($0) } ?? .null
        case .activeCurrent: reading?.current.map { .signed($0) } ?? .null
        case .activePower: reading.map { .signed($0.power) } ?? .null
        }
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {
        let (before, after) = (old?.reading, new.reading)
        let differences: [(ElectricalPowerMeasurement.Attribute, Bool)] = [
            (.voltage, before?.voltage != after?.voltage), (.activeCurrent, before?.current != after?.current),
            (.activePower, before?.power != after?.power),
        ]
        for case (let attribute, true) in differences {
            state.changed(attribute, of: .electricalPowerMeasurement, on: DataModel.load)
        }
    }
}

/// Electrical Energy Measurement (Matter application clusters 2.12).
///
/// Changes of the cumulative energy are reported once per period, with the events.
struct EnergyServer: ClusterServer {
    /// The length of a period, and the shortest time between two events of a kind (2.12.7).
    static let period = Duration.seconds(60)

    /// The energy of a time span.
    private struct Span {
        let energy: UInt64
        let start: Instant?
        let end: Instant

        var tlv: TLVValue {
            .fields(
                (0, .signed(Int64(clamping: energy))), (3, start.map { .unsigned(Self.milliseconds($0)) }),
                (4, .unsigned(Self.milliseconds(end))))
        }

        private static func milliseconds(_ time: Instant) -> UInt64 { UInt64(clamping: time.nanoseconds / 1_000_000) }
    }

    /// The counter at the start of the current period.
    private var periodStart: (energy: UInt64, time: Instant)?
    private var lastReading: Span?
    private var lastPeriod: Span?

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, ElectricalEnergyMeasurement.Attribute.self, or: .unsupportedAttribute) {
        case .accuracy: Accuracy.energy.tlv
        case .cumulativeEnergyImported: lastReading?.tlv ?? .null
        case .periodicEnergyImported: lastPeriod?.tlv ?? .null
        }
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {
        guard let energy = new.reading?.energy, new.reading != old?.reading || periodStart == nil else { return }
        let isFirst = lastReading == nil
        lastReading = Span(energy: energy, start: nil, end: now)
        guard let start = periodStart, energy >= start.energy else {
            // The first reading, or the counter was reset.
            periodStart = (energy, now)
            if isFirst { report(.cumulativeEnergyImported, .cumulativeEnergyMeasured, lastReading, now, &state) }
            return
        }
        guard now - start.time >= Self.period else { return }
        lastPeriod = Span(energy: energy - start.energy, start: start.time, end: now)
        periodStart = (energy, now)
        report(.cumulativeEnergyImported, .cumulativeEnergyMeasured, lastReading, now, &state)
        report(.periodicEnergyImported, .periodicEnergyMeasured, lastPeriod, now, &state)
    }

    private func report(
        _ attribute: ElectricalEnergyMeasurement.Attribute, _ event: ElectricalEnergyMeasurement.Event, _ span: Span?,
        _ now: Instant, _ state: inout NodeState
    ) {
        state.changed(attribute, of: .electricalEnergyMeasurement, on: DataModel.load)
        state.record(
            event, of: .electricalEnergyMeasurement, on: DataModel.load, .fields((0, span?.tlv)),
            pathLimit: EventJournal.measurementLimit, now: now)
    }
}
