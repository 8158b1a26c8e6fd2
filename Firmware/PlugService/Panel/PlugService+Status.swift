import AddressService
import Appliance
import LinuxClocks
import Metering
import PlugHardware
import PlugModel
import ProtocolCore

extension PlugService {
    /// What the plug is doing, as one line of JSON. `relay` on or off, `light` the pattern that it shows, `faults` what parts cannot
    /// do just now, `meter` what went wrong with it since the start; with values only while there are such: `level` in percent,
    /// `tripped`, `crash` (the last end of the firmware that was not in order), and the reading's `activePower` and so on.
    var status: String {
        let state = machine.state
        var fields = [
            "\"id\":\"\(machine.identity.id)\"", "\"relay\":\"\(state.relayOn ? "on" : "off")\"",
            "\"nextSequence\":\(machine.nextSequence)", "\"controllers\":\(machine.connections.count)",
            "\"paired\":\(machine.access.controllers.all.count)",
            "\"pairingWindow\":\(machine.access.isOpen(at: BootClock.now))",
            "\"malformedSessions\":\(machine.malformedSessions)", field("light", "\(machine.light)"),
        ]
        // Discovery runs on the same loop.
        if let counters = discovery?.assumeIsolated({ $0.counters }) {
            fields.append("\"malformedDatagrams\":\(counters.malformed)")
        }
        if let addressing {
            fields.append("\"malformedFrames\":\(addressing.assumeIsolated { $0.malformedFrames })")
        }
        if let level = state.level { fields.append("\"level\":\(level.percent)") }
        if let tripped = state.tripped { fields.append(field("tripped", tripped.rawValue)) }
        if let reading = state.reading { fields += reading.json }
        if let meter = settings.parts.meter { fields.append("\"meter\":\(meter.counters.json)") }
        let told = faults.sorted { $0.key < $1.key }.map { field($0.key, "\($0.value)") }
        fields.append("\"faults\":{\(told.joined(separator: ","))}")
        if let crash = machine.identity.crash { fields.append("\"crash\":\(crash.json(now: BootClock.now))") }
        let networks = machine.identity.networks.map { $0.json(now: BootClock.now) }
        fields.append("\"networks\":[\(networks.joined(separator: ","))]")
        return "{" + fields.joined(separator: ",") + "}"
    }
}

extension Reading {
    /// Watts, volts, amperes, volt-amperes, vars, hertz and watt-hours, as far as the meter has them.
    fileprivate var json: [String] {
        let values: [(String, Double?)] = [
            ("activePower", activePower), ("voltageRMS", voltageRMS), ("currentRMS", currentRMS),
            ("apparentPower", alternating?.apparentPower), ("reactivePower", alternating?.reactivePower),
            ("powerFactor", alternating?.powerFactor), ("frequency", alternating?.frequency),
            ("activeEnergy", activeEnergy),
        ]
        return values.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
    }
}

extension PlugCrash {
    /// `report`, `count` since the boot, and `age` in seconds where it is known.
    fileprivate func json(now: Instant) -> String {
        let age = at.map { ",\"age\":\((now - $0).components.seconds)" } ?? ""
        return "{\(field("report", report)),\"count\":\(count)\(age)}"
    }
}

extension MeterCounters {
    fileprivate var json: String {
        "{\"impossible\":\(impossible),\"busFaults\":\(busFaults),\"initialisations\":\(initialisations)}"
    }
}
