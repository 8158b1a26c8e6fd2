import LinuxSystem
import Metering
public import PlugClient
public import PlugModel

/// One line of `plugctl watch --json`. The keys are part of the contract with scripts. Keys without a value are
/// omitted.
public struct WatchRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The kind of the event: connected, snapshot, relay, level, reading, button, protection, protectionReset,
    /// restarted, pairingFailed, controllerPaired, controllerRemoved, gap, disconnected.
    public var event: String
    /// The time of the event: ISO 8601, UTC, milliseconds.
    public var at: String
    /// The number of the event in the plug's journal.
    public var seq: UInt64?
    /// The age of the event in seconds at its arrival; absent for an event of an earlier boot of the plug.
    public var age: Double?
    /// The position up to and including this line for all followed plugs: see ``WatchCursor``. Absent in lines of
    /// readings and levels.
    public var cursor: String?

    /// relay, snapshot: true if the relay is on.
    public var on: Bool?
    /// relay, protectionReset: the cause: button, controller, protection, timer or powerOn.
    public var cause: String?
    /// relay, protectionReset: the controller that sent the command. controllerPaired, controllerRemoved: the
    /// controller.
    public var controller: String?
    /// level, snapshot: the dimmer's level in percent.
    public var level: Double?
    /// button: the kind of press: single, double or long.
    public var press: String?
    /// protection, protectionReset: the protection: overPower, overCurrent, overVoltage, underVoltage, overTemperature,
    /// weldedRelay, restTime, switchingRate.
    public var protection: String?
    /// snapshot: the protection that locked the relay open and is not reset; absent if the relay is not locked.
    public var tripped: String?
    /// restarted: true after a power loss.
    public var powerLost: Bool?
    /// pairingFailed: the number of wrong setup codes since the last correct one.
    public var failures: UInt32?
    /// reading, snapshot: active power in W.
    public var activePower: Double?
    /// reading, snapshot: RMS voltage in V.
    public var voltageRMS: Double?
    /// reading, snapshot: RMS current in A.
    public var currentRMS: Double?
    /// reading, snapshot: the energy counter in Wh.
    public var activeEnergy: Double?
    /// reading, snapshot of a plug that measures alternating current: apparent power in VA. This and the following
    /// three values are absent for other plugs.
    public var apparentPower: Double?
    /// Reactive power in var; positive for an inductive load.
    public var reactivePower: Double?
    /// The power factor, -1 to 1.
    public var powerFactor: Double?
    /// The mains frequency in Hz.
    public var frequency: Double?
    /// gap: the number of the first lost event.
    public var from: UInt64?
    /// gap: the number of the last lost event.
    public var to: UInt64?
    /// gap, disconnected: the reason.
    public var reason: String?
    /// connected: the plug's id.
    public var id: String?
    /// connected: the firmware version.
    public var firmware: String?

    init(plug: String, event: String, at: String) {
        self.plug = plug
        self.event = event
        self.at = at
    }
}

extension WatchRecord {
    /// Returns the lines for one report: none for `following` and `log`, one per changed level or reading for `state`,
    /// and one for each other report. `previous` is the plug's state before the report. The lines of a `state` report
    /// contain only the changes since that state.
    public static func records(of report: PlugReport, previous: PlugState?) -> [WatchRecord] {
        let at = report.at.iso8601()
        func record(_ event: String) -> WatchRecord { WatchRecord(plug: report.plug, event: event, at: at) }
        switch report.update {
        case .connected(let description):
            var line = record("connected")
            line.id = description.id.rawValue
            line.firmware = description.firmware
            return [line]
        case .snapshot(let state):
            var line = record("snapshot")
            line.on = state.relayOn
            line.level = state.level?.percent
            line.tripped = state.tripped?.rawValue
            line.fill(from: state.reading)
            return [line]
        case .state(let state):
            return changes(from: previous, to: state, record)
        case .event(let event, let age):
            var line = record("")
            line.fill(from: event, age: age)
            return [line]
        case .gap(let gap):
            var line = record("gap")
            line.from = gap.from
            line.to = gap.to
            line.reason = gap.reason.rawValue
            return [line]
        case .disconnected(let reason, _):
            var line = record("disconnected")
            line.reason = "\(reason)"
            return [line]
        case .following, .log:
            return []
        }
    }

    /// Returns the changes between two states. The relay is omitted, because its event follows and has more details.
    private static func changes(
        from previous: PlugState?, to state: PlugState, _ record: (String) -> WatchRecord
    ) -> [WatchRecord] {
        var lines: [WatchRecord] = []
        if let level = state.level, level != previous?.level {
            var line = record("level")
            line.level = level.percent
            lines.append(line)
        }
        if let reading = state.reading, reading != previous?.reading {
            var line = record("reading")
            line.fill(from: reading)
            lines.append(line)
        }
        return lines
    }

    private mutating func fill(from reading: Reading?) {
        activePower = reading?.activePower
        voltageRMS = reading?.voltageRMS
        currentRMS = reading?.currentRMS
        activeEnergy = reading?.activeEnergy
        apparentPower = reading?.alternating?.apparentPower
        reactivePower = reading?.alternating?.reactivePower
        powerFactor = reading?.alternating?.powerFactor
        frequency = reading?.alternating?.frequency
    }

    private mutating func fill(from event: PlugEvent, age: Duration?) {
        seq = event.sequence
        self.age = age.map { ($0.inSeconds * 1000).rounded() / 1000 }
        switch event.kind {
        case .relayChanged(let on, let cause):
            self.event = "relay"
            self.on = on
            fill(from: cause)
        case .buttonPressed(let press):
            self.event = "button"
            self.press = press.rawValue
        case .protectionTripped(let protection):
            self.event = "protection"
            self.protection = protection.rawValue
        case .protectionReset(let protection, let cause):
            self.event = "protectionReset"
            self.protection = protection.rawValue
            fill(from: cause)
        case .restarted(let powerLost):
            self.event = "restarted"
            self.powerLost = powerLost
        case .pairingFailed(let failures):
            self.event = "pairingFailed"
            self.failures = failures
        case .controllerPaired(let name):
            self.event = "controllerPaired"
            controller = name
        case .controllerRemoved(let name):
            self.event = "controllerRemoved"
            controller = name
        }
    }

    private mutating func fill(from cause: RelayCause) {
        switch cause {
        case .button: self.cause = "button"
        case .controller(let name, _, _):
            self.cause = "controller"
            controller = name
        case .protection: self.cause = "protection"
        case .timer: self.cause = "timer"
        case .powerOn: self.cause = "powerOn"
        }
    }
}
