internal import Metering
internal import ProtocolCore

extension WireState {
    init(_ state: PlugState) {
        self.init()
        relayOn = state.relayOn
        if let level = state.level { levelPermille = UInt32(level.permille) }
        if let reading = state.reading { self.reading = WireReading(reading) }
    }

    func model() throws(MessageFault) -> PlugState {
        PlugState(
            relayOn: relayOn,
            level: hasLevelPermille ? try WireScalar.level(levelPermille) : nil,
            reading: hasReading ? try reading.model() : nil)
    }
}

extension WireReading {
    init(_ reading: Reading) {
        self.init()
        plugTime = WireScalar.nanoseconds(reading.time)
        activePowerDw = reading.deciwatts
        if let decivolts = reading.decivolts { voltageDv = UInt32(decivolts) }
        if let milliamperes = reading.milliamperes { currentMa = milliamperes }
        activeEnergyMwh = reading.milliwattHours
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
            milliamperes: hasCurrentMa ? currentMa : nil, milliwattHours: activeEnergyMwh)
    }
}
