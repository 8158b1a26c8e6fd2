public import JSONText
import Metering
public import PlugModel

/// The description of a plug in its retained message `about` and in Home Assistant's discovery.
public struct PlugPortrait: Hashable, Sendable {
    /// The name of the plug.
    public var name: String
    /// The firmware version.
    public var firmware: String
    /// The capabilities of the plug.
    public var capabilities: Set<Capability>
    /// The plug's address without a port; nil if its firmware does not report one.
    public var address: String?

    /// Creates a description.
    public init(
        name: String, firmware: String, capabilities: Set<Capability>, address: String? = nil
    ) {
        self.name = name
        self.firmware = firmware
        self.capabilities = capabilities
        self.address = address
    }

    /// Creates a description with an address of the plug.
    ///
    /// - Parameter networks: the plug's interfaces. The message contains one of their addresses, preferably IPv4.
    public init(name: String, firmware: String, capabilities: Set<Capability>, networks: [PlugNetwork]) {
        let address = networks.lazy.flatMap(\.addresses).first { !$0.contains(":") }
        self.init(
            name: name, firmware: firmware, capabilities: capabilities,
            address: address ?? networks.first?.addresses.first)
    }

    func message(of plug: PlugID) -> JSONObject {
        var message = JSONObject()
        message.add("id", plug.rawValue)
        message.add("name", name)
        message.add("firmware", firmware)
        message.add("capabilities", capabilities.map(\.rawValue).sorted())
        if let address { message.add("address", address) }
        return message
    }
}

extension JSONObject {
    /// Creates the message `state` of a plug. The keys are those of `plugctl watch --json`.
    ///
    /// - Parameter at: the time of the state in ISO 8601, UTC; nil if it is unknown.
    public init(_ state: PlugState, at: String?) {
        self.init()
        add("on", state.relayOn)
        if let level = state.level { add("level", level.percent) }
        if let tripped = state.tripped { add("tripped", tripped.rawValue) } else { addNull("tripped") }
        if let at { add("at", at) }
        guard let reading = state.reading else { return }
        for quantity in MeasuredQuantity.allCases {
            if let value = quantity.value(in: reading) { add(quantity.rawValue, value) }
        }
    }

    /// Creates the message `system` of a plug. The keys are those of `plugctl update --json`.
    ///
    /// - Parameter available: the version of the newest system that the plug can be updated to; nil if it is unknown.
    public init(_ report: UpdateReport, available: String?) {
        self.init()
        let (phase, percent, reason) = report.phase.words
        if !report.system.isEmpty { add("system", report.system) }
        if let available { add("available", available) }
        if !report.newSystem.isEmpty { add("newSystem", report.newSystem) }
        add("phase", phase)
        if let percent { add("percent", percent) }
        if let reason { add("reason", reason) }
        add("restartsWhenOff", report.restartsWhenOff)
    }

    /// Creates the message `event` for an entry of a plug's journal. The keys are those of `plugctl watch --json`.
    ///
    /// - Parameters:
    ///   - at: the time of the event in ISO 8601, UTC; nil if it is unknown.
    ///   - age: seconds since the event; nil for an event of an earlier boot of the plug.
    public init(_ event: PlugEvent, of plug: PlugID, at: String?, age: Double?) {
        self.init()
        add("plug", plug.rawValue)
        add("seq", event.sequence)
        if let at { add("at", at) }
        if let age { add("age", (age * 1000).rounded() / 1000) }
        switch event.kind {
        case .relayChanged(let on, let cause):
            add("event", "relay")
            add("on", on)
            add(cause)
        case .buttonPressed(let press):
            add("event", "button")
            add("press", press.rawValue)
        case .protectionTripped(let protection):
            add("event", "protection")
            add("protection", protection.rawValue)
        case .protectionReset(let protection, let cause):
            add("event", "protectionReset")
            add("protection", protection.rawValue)
            add(cause)
        case .restarted(let powerLost):
            add("event", "restarted")
            add("powerLost", powerLost)
        case .pairingFailed(let failures):
            add("event", "pairingFailed")
            add("failures", failures)
        case .controllerPaired(let name):
            add("event", "controllerPaired")
            add("controller", name)
        case .controllerRemoved(let name):
            add("event", "controllerRemoved")
            add("controller", name)
        }
    }

    /// Creates the message `event` for lost events.
    ///
    /// - Parameter at: the time at which the loss was detected in ISO 8601, UTC; nil if it is unknown.
    public init(_ gap: Gap, of plug: PlugID, at: String?) {
        self.init()
        add("plug", plug.rawValue)
        add("seq", gap.to)
        if let at { add("at", at) }
        add("event", "gap")
        add("from", gap.from)
        add("to", gap.to)
        add("reason", gap.reason.rawValue)
    }

    private mutating func add(_ cause: RelayCause) {
        switch cause {
        case .button: add("cause", "button")
        case .controller(let name, _, _):
            add("cause", "controller")
            add("controller", name)
        case .protection: add("cause", "protection")
        case .timer: add("cause", "timer")
        case .powerOn: add("cause", "powerOn")
        }
    }
}

extension UpdateReport.Phase {
    /// The name of the phase in messages and records, the finished part in percent, and the reason of a failure.
    public var words: (name: String, percent: Int?, reason: String?) {
        switch self {
        case .idle: ("idle", nil, nil)
        case .receiving(let received, let size):
            ("receiving", size == 0 ? 0 : Int(Double(min(received, size)) / Double(size) * 100), nil)
        case .installing(let percent): ("installing", percent, nil)
        case .installed: ("installed", nil, nil)
        case .trying: ("trying", nil, nil)
        case .returned(let reason): ("returned", nil, reason)
        case .failed(let reason): ("failed", nil, reason)
        case .unknown: ("unknown", nil, nil)
        }
    }
}

/// The measured quantities, named like the keys of the message `state`.
enum MeasuredQuantity: String, CaseIterable {
    case activePower, activeEnergy, voltageRMS, currentRMS, apparentPower, reactivePower, powerFactor, frequency

    /// Returns the value in W, Wh, V, A, VA, var or Hz (the power factor has no unit); nil if the meter does not
    /// measure it.
    func value(in reading: Reading) -> Double? {
        switch self {
        case .activePower: reading.activePower
        case .activeEnergy: reading.activeEnergy
        case .voltageRMS: reading.voltageRMS
        case .currentRMS: reading.currentRMS
        case .apparentPower: reading.alternating?.apparentPower
        case .reactivePower: reading.alternating?.reactivePower
        case .powerFactor: reading.alternating?.powerFactor
        case .frequency: reading.alternating?.frequency
        }
    }
}
