internal import Metering
import PlugModel
internal import ProtocolCore

extension WireState {
    init(_ state: PlugState) {
        self.init()
        relayOn = state.relayOn
        if let level = state.level { levelPermille = UInt32(level.permille) }
        if let reading = state.reading { self.reading = WireReading(reading) }
        if let tripped = state.tripped { self.tripped = WireProtection(tripped) }
        sleepers = state.sleepers.prefix(PlugSleeper.limit).map { WireSleeper($0) }
    }

    func model() throws(MessageFault) -> PlugState {
        PlugState(
            relayOn: relayOn,
            level: hasLevelPermille ? try WireScalar.level(levelPermille) : nil,
            reading: hasReading ? try reading.model() : nil, tripped: hasTripped ? tripped.model : nil,
            sleepers: try modelledSleepers())
    }

    private func modelledSleepers() throws(MessageFault) -> [PlugSleeper] {
        guard sleepers.count <= PlugSleeper.limit else {
            throw .outOfRange(
                field: "sleepers", value: Int64(sleepers.count), allowed: 0...Int64(PlugSleeper.limit))
        }
        var models: [PlugSleeper] = []
        for sleeper in sleepers { models.append(try sleeper.model()) }
        return models
    }
}

extension WireReading {
    init(_ reading: Reading) {
        self.init()
        plugTime = WireScalar.nanoseconds(reading.time)
        activePowerDw = reading.deciwatts
        if let decivolts = reading.decivolts { voltageDv = UInt32(decivolts) }
        if let milliamperes = reading.milliamperes { currentMa = milliamperes }
        activeEnergyMwh = min(reading.milliwattHours, PlugWire.greatestEnergy)
        guard let alternating = reading.alternating else { return }
        apparentPowerDva = alternating.apparentDecivoltAmperes
        reactivePowerDvar = alternating.reactiveDecivars
        powerFactorPermille = Int32(alternating.powerFactorThousandths)
        if let millihertz = alternating.millihertz { frequencyMillihertz = millihertz }
    }

    func model() throws(MessageFault) -> Reading {
        var decivolts: UInt16?
        if hasVoltageDv {
            guard let value = UInt16(exactly: voltageDv) else {
                throw .outOfRange(field: "voltage_dv", value: Int64(voltageDv), allowed: 0...Int64(UInt16.max))
            }
            decivolts = value
        }
        return Reading(
            time: try WireScalar.instant(plugTime, "plug_time"), deciwatts: activePowerDw, decivolts: decivolts,
            milliamperes: hasCurrentMa ? currentMa : nil, alternating: try alternating(),
            milliwattHours: try WireScalar.energy(activeEnergyMwh))
    }

    private func alternating() throws(MessageFault) -> AlternatingPower? {
        guard hasApparentPowerDva else { return nil }
        guard hasReactivePowerDvar else { throw .missing(field: "reactive_power_dvar") }
        guard hasPowerFactorPermille else { throw .missing(field: "power_factor_permille") }
        guard (-1000...1000).contains(powerFactorPermille) else {
            throw .outOfRange(
                field: "power_factor_permille", value: Int64(powerFactorPermille), allowed: -1000...1000)
        }
        return AlternatingPower(
            apparentDecivoltAmperes: apparentPowerDva, reactiveDecivars: reactivePowerDvar,
            powerFactorThousandths: Int16(powerFactorPermille),
            millihertz: hasFrequencyMillihertz ? frequencyMillihertz : nil)
    }
}
