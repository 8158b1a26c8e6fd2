import MatterWire
import ProtocolCore

/// A time in tenths of a second that counts down while it runs.
struct Countdown: Hashable, Sendable {
    /// The value that never counts down.
    static let unlimited: UInt16 = 0xFFFF

    private var tenths: UInt16 = 0
    /// The time of the end while the countdown runs.
    private(set) var end: Instant?

    /// Sets the value and stops.
    mutating func set(_ tenths: UInt16) { (self.tenths, end) = (tenths, nil) }

    /// Runs, unless the value is zero or unlimited.
    mutating func start(now: Instant) {
        guard end == nil, tenths > 0, tenths < Self.unlimited else { return }
        end = now + .milliseconds(Int64(tenths) * 100)
    }

    /// Stops at the present value.
    mutating func stop(now: Instant) { set(value(now: now)) }

    /// The remaining tenths of a second, rounded up.
    func value(now: Instant) -> UInt16 {
        guard let end else { return tenths }
        return UInt16(clamping: max(0, (end - now).wholeNanoseconds + 99_999_999) / 100_000_000)
    }

    /// The remaining time, or nil if the value is zero or unlimited.
    func length(now: Instant) -> Duration? {
        let tenths = value(now: now)
        return tenths > 0 && tenths < Self.unlimited ? .milliseconds(Int64(tenths) * 100) : nil
    }
}

/// On/Off of the load with the feature Lighting (Matter application clusters 1.5).
struct OnOffServer: ClusterServer {
    private var hasGlobalSceneControl = true
    private var onTime = Countdown()
    private var offWaitTime = Countdown()

    private static let endpoint = DataModel.load

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, OnOff.Attribute.self, or: .unsupportedAttribute) {
        case .onOff: .boolean(Self.isOn(state))
        case .globalSceneControl: .boolean(hasGlobalSceneControl)
        case .onTime: .number(onTime.value(now: call.now))
        case .offWaitTime: .number(offWaitTime.value(now: call.now))
        case .startUpOnOff: .number(orNull: state.records.settings.startUpOnOff)
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        let attribute = try known(attribute, OnOff.Attribute.self, or: .unsupportedWrite)
        switch attribute {
        case .onTime:
            let wasRunning = onTime.end != nil
            onTime.set(value.unsigned(UInt16.self) ?? 0)
            if Self.isOn(state) {
                onTime.start(now: call.now)
                // The plug switches itself off, so that the load is switched off even if this process restarts.
                if wasRunning || onTime.end != nil {
                    state.ask(.on(true, offAfter: onTime.length(now: call.now)), from: call.origin)
                }
            }
        case .offWaitTime:
            offWaitTime.set(value.unsigned(UInt16.self) ?? 0)
            if !Self.isOn(state) { offWaitTime.start(now: call.now) }
        case .startUpOnOff:
            state.records.settings.startUpOnOff = value.unsigned(UInt8.self)
            state.effects.store()
        case .onOff, .globalSceneControl: throw InteractionStatus(.unsupportedWrite)
        }
        state.changed(attribute, of: .onOff, on: Self.endpoint)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        switch try known(command, OnOff.Command.self, or: .unsupportedCommand) {
        case .off: return try turnOff(call, &state)
        case .on: return try turnOn(call, &state)
        case .toggle: return try Self.isOn(state) ? turnOff(call, &state) : turnOn(call, &state)
        case .offWithEffect:
            // The effects are fades of a lamp, which a plug with any load does not perform.
            _ = try fields.field(0, UInt8.self, in: 0...1)
            _ = try fields.field(1, UInt8.self)
            if hasGlobalSceneControl {
                state.storeGlobalScene(call)
                setGlobalSceneControl(false, &state)
            }
            return try turnOff(call, &state)
        case .onWithRecallGlobalScene:
            guard !hasGlobalSceneControl else { return .status(.success) }
            guard
                let scene = state.records.fabric(call.fabric)?.scenes[
                    NodeState.globalScene.group, NodeState.globalScene.id]
            else { return try turnOn(call, &state) }
            endWait(call.now, &state)
            setGlobalSceneControl(true, &state)
            return try state.recall(scene, transition: nil, for: call)
        case .onWithTimedOff:
            let limits: ClosedRange<UInt16> = 0...(Countdown.unlimited - 1)
            return try turnOnWithTimedOff(
                onlyIfOn: try fields.field(0, UInt8.self, in: 0...1) == 1,
                onTime: try fields.field(1, UInt16.self, in: limits),
                offWaitTime: try fields.field(2, UInt16.self, in: limits), call, &state)
        }
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {
        guard old?.isOn != new.isOn else { return }
        state.changed(OnOff.Attribute.onOff, of: .onOff, on: Self.endpoint)
        if old == nil {
            applyStartUp(new, &state)
        } else if new.isOn {
            setGlobalSceneControl(true, &state)
            offWaitTime.stop(now: now)
            onTime.start(now: now)
        } else {
            let isTimeOver = onTime.end != nil && onTime.value(now: now) == 0
            onTime.set(0)
            if isTimeOver { offWaitTime.set(0) } else { offWaitTime.start(now: now) }
            timesChanged(&state)
        }
    }

    mutating func expire(now: Instant, _ state: inout NodeState) {
        if let end = onTime.end, end <= now {
            // The plug switches the load off at this time.
            onTime.set(0)
            offWaitTime.set(0)
            timesChanged(&state)
        }
        if let end = offWaitTime.end, end <= now {
            offWaitTime.set(0)
            timesChanged(&state)
        }
    }

    func nextDeadline(_ state: NodeState) -> Instant? { sooner(onTime.end, offWaitTime.end) }

    private static func isOn(_ state: NodeState) -> Bool { state.values?.isOn ?? false }

    /// StartUpOnOff (Matter application clusters 1.5.6.6). It applies when the power returns, not after a restart of
    /// the process.
    private func applyStartUp(_ values: PlugValues, _ state: inout NodeState) {
        guard state.configuration.startReason == .powerOn, let setting = state.records.settings.startUpOnOff else {
            return
        }
        let wanted = state.isOnAfterStart(values)
        if wanted != values.isOn || setting == 1 { state.ask(.on(wanted)) }
    }

    private mutating func turnOn(_ call: Call, _ state: inout NodeState) throws(InteractionStatus) -> CommandReply {
        endWait(call.now, &state)
        setGlobalSceneControl(true, &state)
        let wasOn = Self.isOn(state)
        let reply = try state.ask(.on(true, offAfter: onTime.length(now: call.now)), for: call)
        if !wasOn, let level = state.level.onLevel, state.configuration.features.dims {
            state.ask(.level(level, transition: .zero, withOnOff: false), from: call.origin)
        }
        return reply
    }

    private mutating func turnOff(_ call: Call, _ state: inout NodeState) throws(InteractionStatus) -> CommandReply {
        onTime.set(0)
        timesChanged(&state)
        return try state.ask(.on(false), for: call)
    }

    /// OnWithTimedOff (Matter application clusters 1.5.7.6).
    private mutating func turnOnWithTimedOff(
        onlyIfOn: Bool, onTime new: UInt16, offWaitTime newWait: UInt16, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let isOn = Self.isOn(state)
        guard isOn || !onlyIfOn else { return .status(.success) }
        if !isOn, offWaitTime.value(now: call.now) > 0 {
            // The load was switched off recently: the waiting time can only become shorter.
            offWaitTime.set(min(offWaitTime.value(now: call.now), newWait))
            offWaitTime.start(now: call.now)
            timesChanged(&state)
            return .status(.success)
        }
        let present = onTime.value(now: call.now)
        onTime.set(present == Countdown.unlimited ? new : max(present, new))
        onTime.start(now: call.now)
        offWaitTime.set(newWait)
        timesChanged(&state)
        setGlobalSceneControl(true, &state)
        return try state.ask(.on(true, offAfter: onTime.length(now: call.now)), for: call)
    }

    /// Without an on time, switching on ends the waiting time.
    private mutating func endWait(_ now: Instant, _ state: inout NodeState) {
        guard onTime.value(now: now) == 0 else { return }
        offWaitTime.set(0)
        timesChanged(&state)
    }

    private mutating func setGlobalSceneControl(_ value: Bool, _ state: inout NodeState) {
        guard hasGlobalSceneControl != value else { return }
        hasGlobalSceneControl = value
        state.changed(OnOff.Attribute.globalSceneControl, of: .onOff, on: Self.endpoint)
    }

    private func timesChanged(_ state: inout NodeState) {
        state.changed(OnOff.Attribute.onTime, of: .onOff, on: Self.endpoint)
        state.changed(OnOff.Attribute.offWaitTime, of: .onOff, on: Self.endpoint)
    }
}

extension NodeState {
    /// True if the load is on after the start-up settings are applied to the first values.
    func isOnAfterStart(_ values: PlugValues) -> Bool {
        switch records.settings.startUpOnOff {
        case 0: false
        case 1: true
        case 2: !values.isOn
        case _: values.isOn
        }
    }
}
