import AddressService
import Appliance
import JSONText
import LinuxClocks
import Metering
import PlugHardware
import PlugModel
import ProtocolCore

extension PlugService {
    /// What the plug is doing, as one line of JSON. `relay` on or off, `light` the pattern that it shows, `faults` what parts cannot
    /// do just now, `meter` what went wrong with it since the start; with values only while there are such: `level` in percent,
    /// `tripped`, `crash` (the last end of the firmware that was not in order), `broker` (whether the MQTT broker is connected, and
    /// why not), `homekit` (who uses the plug by HomeKit, or the `fault` that keeps it off), and the reading's `activePower` and so on.
    var status: String {
        let state = machine.state
        var status = JSONObject()
        status.add("id", machine.identity.id.rawValue)
        status.add("relay", state.relayOn ? "on" : "off")
        status.add("nextSequence", machine.nextSequence)
        status.add("controllers", machine.connections.count)
        status.add("paired", machine.access.controllers.all.count)
        status.add("pairingWindow", machine.access.isOpen(at: BootClock.now))
        status.add("malformedSessions", machine.malformedSessions)
        status.add("light", "\(machine.light)")
        // Discovery runs on the same loop.
        if let counters = discovery?.assumeIsolated({ $0.counters }) {
            status.add("malformedDatagrams", counters.malformed)
        }
        if let addressing { status.add("malformedFrames", addressing.assumeIsolated { $0.malformedFrames }) }
        if let level = state.level { status.add("level", level.percent) }
        if let tripped = state.tripped { status.add("tripped", tripped.rawValue) }
        state.reading?.write(to: &status)
        if let meter = settings.parts.meter { status.add("meter", meter.counters.json) }
        var told = JSONObject()
        for (part, fault) in faults.sorted(by: { $0.key < $1.key }) { told.add(part, "\(fault)") }
        status.add("faults", told)
        if let brokerStatus { status.add("broker", brokerStatus) }
        if let homeKitStatus { status.add("homekit", homeKitStatus) }
        if let crash = machine.identity.crash { status.add("crash", crash.json(now: BootClock.now)) }
        status.add("networks", machine.identity.networks.map { $0.json(now: BootClock.now) })
        return status.text
    }
}

extension Reading {
    /// Watts, volts, amperes, volt-amperes, vars, hertz and watt-hours, as far as the meter has them.
    fileprivate func write(to status: inout JSONObject) {
        let values: [(String, Double?)] = [
            ("activePower", activePower), ("voltageRMS", voltageRMS), ("currentRMS", currentRMS),
            ("apparentPower", alternating?.apparentPower), ("reactivePower", alternating?.reactivePower),
            ("powerFactor", alternating?.powerFactor), ("frequency", alternating?.frequency),
            ("activeEnergy", activeEnergy),
        ]
        for (name, value) in values { if let value { status.add(name, value) } }
    }
}

extension PlugCrash {
    /// `report`, `count` since the boot, and `age` in seconds where it is known.
    fileprivate func json(now: Instant) -> JSONObject {
        var crash = JSONObject()
        crash.add("report", report)
        crash.add("count", count)
        if let at { crash.add("age", (now - at).components.seconds) }
        return crash
    }
}

extension MeterCounters {
    fileprivate var json: JSONObject {
        var counters = JSONObject()
        counters.add("impossible", impossible)
        counters.add("busFaults", busFaults)
        counters.add("initialisations", initialisations)
        return counters
    }
}
