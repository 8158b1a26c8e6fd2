import AddressService
import Appliance
import JSONText
import LinuxSystem
import Metering
import PlugHardware
import PlugModel
import ProtocolCore

extension PlugService {
    /// The state of the plug as one line of JSON. `relay` is on or off, `light` the shown pattern, `faults` the
    /// operations on parts that currently fail. Optional members: `meter` (the error counters since plugd started),
    /// `level` in percent, `tripped`, `crash` (the last abnormal end of the firmware), `broker` (the state of the MQTT
    /// connection, with the reason if it is closed), `homekit` (the HomeKit controllers, or the `fault` that disables
    /// HomeKit), `matter` (the Matter fabrics, or the `fault` that disables Matter), `wifi` (the `phase`, the `network` and the last
    /// `failure`), and the values of the reading such as `activePower`. `sleep_proxy` has the sleeping hosts, or the
    /// `reason` why the plug serves none. `wide_area` has the `domain` in which the plug registers itself, and its `name`
    /// there, or the `reason` why it is not registered; `mapping` has the external `address` and `port` of the router and
    /// whether they are `public`, or the `reason` why the router maps no port; `pinhole` has the same for IPv6.
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
        if let counters = presence?.discovery.assumeIsolated({ $0.counters }) {
            status.add("malformedDatagrams", counters.malformed)
        }
        if let addressing { status.add("malformedFrames", addressing.assumeIsolated { $0.malformedFrames }) }
        if let level = state.level { status.add("level", level.percent) }
        if let tripped = state.tripped { status.add("tripped", tripped.rawValue) }
        state.reading?.write(to: &status)
        if let meter = settings.parts.meter { status.add("meter", meter.counters.json) }
        var told = JSONObject()
        for (part, fault) in faults.all { told.add(part, "\(fault)") }
        status.add("faults", told)
        if let brokerStatus { status.add("broker", brokerStatus) }
        if let homeKitStatus { status.add("homekit", homeKitStatus) }
        if let matterStatus { status.add("matter", matterStatus) }
        if let wiFiStatus { status.add("wifi", wiFiStatus) }
        status.add("sleep_proxy", sleepProxyStatus)
        if let domainStatus { status.add("wide_area", domainStatus) }
        if let crash = machine.identity.crash { status.add("crash", crash.json(now: BootClock.now)) }
        status.add("networks", machine.identity.networks.map { $0.json(now: BootClock.now) })
        return status.text
    }
}

extension Reading {
    /// Writes watts, volts, amperes, volt-amperes, vars, hertz and watt-hours, as far as the meter measures them.
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
    /// Returns `report`, `count` since the boot, and `age` in seconds if it is known.
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
