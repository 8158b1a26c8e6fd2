import LinuxClocks
import Metering
public import PlugClient
public import PlugModel

/// One line of `plugctl watch --json`; the keys are part of the contract with scripts. A key without a value is left out.
public struct WatchRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// connected, snapshot, relay, level, reading, button, protection, protectionReset, restarted, pairingFailed,
    /// controllerPaired, controllerRemoved, gap, disconnected.
    public var event: String
    /// When it happened: ISO 8601, UTC, milliseconds.
    public var at: String
    /// The number of the event in the plug's journal.
    public var seq: UInt64?
    /// Seconds since it happened when it arrived; absent for an event of an earlier boot of the plug.
    public var age: Double?
    /// Stands for everything up to and including this line, of all plugs that are followed: see ``WatchCursor``. Absent in lines of
    /// readings and levels.
    public var cursor: String?

    /// relay, snapshot: whether the relay is on.
    public var on: Bool?
    /// relay, protectionReset: button, controller, protection, timer, powerOn.
    public var cause: String?
    /// relay, protectionReset: the controller whose command it was. controllerPaired, controllerRemoved: which one.
    public var controller: String?
    /// level, snapshot: per cent.
    public var level: Double?
    /// button: single, double, long.
    public var press: String?
    /// protection, protectionReset: overPower, overCurrent, overVoltage, underVoltage, overTemperature, weldedRelay, restTime,
    /// switchingRate.
    public var protection: String?
    /// snapshot: the protection that locked the relay open and was not reset yet; absent where none did.
    public var tripped: String?
    /// restarted: whether power was lost.
    public var powerLost: Bool?
    /// pairingFailed: wrong setup codes since the last right one.
    public var failures: UInt32?
    /// reading, snapshot: W, V, A, Wh.
    public var activePower: Double?
    public var voltageRMS: Double?
    public var currentRMS: Double?
    public var activeEnergy: Double?
    /// reading, snapshot of a plug that measures alternating current: VA, var (positive for an inductive load), -1 to 1, Hz.
    public var apparentPower: Double?
    public var reactivePower: Double?
    public var powerFactor: Double?
    public var frequency: Double?
    /// gap: the first and the last event number lost.
    public var from: UInt64?
    public var to: UInt64?
    /// gap, disconnected: why.
    public var reason: String?
    /// connected: the plug's id and firmware version.
    public var id: String?
    public var firmware: String?

    init(plug: String, event: String, at: String) {
        self.plug = plug
        self.event = event
        self.at = at
    }
}

extension WatchRecord {
    /// The lines for one report: none for what only a cursor needs, one for each thing that changed otherwise.
    /// `previous` is the plug's state before the report, so that a state update becomes the changes that it carries.
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

    /// The relay is left out: its event tells more, and comes too.
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
