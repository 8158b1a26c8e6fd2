import MatterWire
import ProtocolCore

/// The limits of levels (Matter application clusters 1.6, and the device type Dimmable Plug-in Unit).
enum LevelLimits {
    static let lowest: UInt8 = 1
    static let highest: UInt8 = 254
    /// The plug's limit of a transition time. Longer times of a controller are shortened.
    static let longestTransition = Duration.seconds(3600)
}

/// The level that the plug moves to, and the settings of Level Control that other clusters use.
struct LevelState: Hashable, Sendable {
    private struct Transition: Hashable {
        let (start, target): (UInt8, UInt8)
        let began: Instant
        let length: Duration

        var end: Instant { began + length }

        func level(at now: Instant) -> UInt8 {
            guard now < end else { return target }
            let done = (now - began).inSeconds / length.inSeconds
            let level = Double(start) + (Double(target) - Double(start)) * min(max(done, 0), 1)
            return UInt8(clamping: Int(level.rounded()))
        }
    }

    /// The tolerance between the computed level and the plug's, which has a different scale.
    private static let tolerance = 2

    /// The attribute OnLevel, or nil to keep the level when the load is switched on.
    var onLevel: UInt8?
    /// The attribute Options.
    var options: UInt8 = 0
    private var transition: Transition?

    /// The end of the transition, or nil without a transition.
    var end: Instant? { transition?.end }

    /// The present level: computed during a transition, otherwise the plug's.
    func current(now: Instant, _ values: PlugValues?) -> UInt8? { transition?.level(at: now) ?? values?.level }

    mutating func begin(from start: UInt8, to target: UInt8, _ length: Duration, now: Instant) {
        transition = length > .zero ? Transition(start: start, target: target, began: now, length: length) : nil
    }

    mutating func finish() { transition = nil }

    /// Returns true if the plug's values cannot belong to the transition, because a user or another controller changed
    /// them.
    func contradicts(_ values: PlugValues, wasOn: Bool) -> Bool {
        guard let transition else { return false }
        if wasOn, !values.isOn { return true }
        guard let level = values.level.map(Int.init) else { return false }
        let ends = [Int(transition.start), Int(transition.target)].sorted()
        return level < ends[0] - Self.tolerance || level > ends[1] + Self.tolerance
    }
}

/// Level Control of the load with the features On/Off and Lighting (Matter application clusters 1.6).
struct LevelServer: ClusterServer {
    /// The option ExecuteIfOff.
    private static let executeIfOff: UInt8 = 1 << 0
    private static let endpoint = DataModel.load

    /// The direction of Move and Step.
    private enum Direction: UInt8 { case up = 0, down = 1 }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, LevelControl.Attribute.self, or: .unsupportedAttribute) {
        case .currentLevel: .number(orNull: state.level.current(now: call.now, state.values))
        case .remainingTime: .number(Self.remaining(state, call.now))
        case .minLevel: .number(LevelLimits.lowest)
        case .maxLevel: .number(LevelLimits.highest)
        case .options: .number(state.level.options)
        case .onLevel: .number(orNull: state.level.onLevel)
        case .startUpCurrentLevel: .number(orNull: state.records.settings.startUpLevel)
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        let attribute = try known(attribute, LevelControl.Attribute.self, or: .unsupportedWrite)
        let number = value.unsigned(UInt8.self)
        switch attribute {
        case .options: state.level.options = number ?? 0
        case .onLevel:
            guard number != 0 else { throw InteractionStatus(.constraintError) }
            state.level.onLevel = number
        case .startUpCurrentLevel:
            state.records.settings.startUpLevel = number
            state.effects.store()
        case .currentLevel, .remainingTime, .minLevel, .maxLevel: throw InteractionStatus(.unsupportedWrite)
        }
        state.changed(attribute, of: .levelControl, on: Self.endpoint)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        switch try known(command, LevelControl.Command.self, or: .unsupportedCommand) {
        case .moveToLevel: try moveToLevel(fields, withOnOff: false, call, &state)
        case .moveToLevelWithOnOff: try moveToLevel(fields, withOnOff: true, call, &state)
        case .move: try move(fields, withOnOff: false, call, &state)
        case .moveWithOnOff: try move(fields, withOnOff: true, call, &state)
        case .step: try step(fields, withOnOff: false, call, &state)
        case .stepWithOnOff: try step(fields, withOnOff: true, call, &state)
        case .stop: try stop(fields, withOnOff: false, call, &state)
        case .stopWithOnOff: try stop(fields, withOnOff: true, call, &state)
        }
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {
        if old == nil { applyStartUp(new, &state) }
        if state.level.contradicts(new, wasOn: old?.isOn ?? false) {
            state.level.finish()
            levelChanged(&state)
        } else if old?.level != new.level, state.level.end == nil {
            state.changed(LevelControl.Attribute.currentLevel, of: .levelControl, on: Self.endpoint)
        }
    }

    mutating func expire(now: Instant, _ state: inout NodeState) {
        guard let end = state.level.end, end <= now else { return }
        state.level.finish()
        levelChanged(&state)
    }

    func nextDeadline(_ state: NodeState) -> Instant? { state.level.end }

    private func levelChanged(_ state: inout NodeState) {
        state.changed(LevelControl.Attribute.currentLevel, of: .levelControl, on: Self.endpoint)
        state.changed(LevelControl.Attribute.remainingTime, of: .levelControl, on: Self.endpoint)
    }

    /// The remaining time of the transition in tenths of a second, rounded up.
    private static func remaining(_ state: NodeState, _ now: Instant) -> UInt16 {
        guard let end = state.level.end, end > now else { return 0 }
        return UInt16(clamping: min(0xFFFE, ((end - now).wholeNanoseconds + 99_999_999) / 100_000_000))
    }

    /// StartUpCurrentLevel (Matter application clusters 1.6.6.15). The plug cannot set the level of a load that is off.
    private func applyStartUp(_ values: PlugValues, _ state: inout NodeState) {
        guard state.configuration.startReason == .powerOn, let setting = state.records.settings.startUpLevel,
            state.isOnAfterStart(values)
        else { return }
        state.ask(.level(max(setting, LevelLimits.lowest), transition: .zero, withOnOff: false))
    }

    // MARK: Commands

    /// Returns true if a command has no effect because the load is off (1.6.6.9). The options follow the command's
    /// other fields.
    private func isIgnored(
        _ fields: TLVValue, optionsAt tag: UInt8, withOnOff: Bool, _ state: NodeState
    ) throws(InteractionStatus) -> Bool {
        let (mask, override) = (try fields.field(tag, UInt8.self), try fields.field(tag + 1, UInt8.self))
        let options = state.level.options & ~mask | override & mask
        return !withOnOff && !(state.values?.isOn ?? false) && options & Self.executeIfOff == 0
    }

    /// The level at which a command starts. A load that is off starts at the lowest level.
    private func start(_ state: NodeState, _ now: Instant) -> UInt8 {
        guard state.values?.isOn == true else { return LevelLimits.lowest }
        return state.level.current(now: now, state.values) ?? LevelLimits.highest
    }

    /// Returns true if a command with On/Off switches the load off, because it arrives at the lowest level.
    private func turnsOff(_ target: UInt8, _ withOnOff: Bool, _ state: NodeState) -> Bool {
        withOnOff && target == LevelLimits.lowest && state.values?.isOn == true
    }

    private static func length(tenths: UInt16?) -> Duration {
        min(.milliseconds(Int64(tenths ?? 0) * 100), LevelLimits.longestTransition)
    }

    private func moveToLevel(
        _ fields: TLVValue, withOnOff: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let level = try fields.field(0, UInt8.self, in: 0...LevelLimits.highest)
        let tenths = try fields.nullableField(1, UInt16.self)
        if try isIgnored(fields, optionsAt: 2, withOnOff: withOnOff, state) { return .status(.success) }
        return try state.move(
            to: max(level, LevelLimits.lowest), over: Self.length(tenths: tenths), withOnOff: withOnOff, for: call)
    }

    private func direction(_ fields: TLVValue) throws(InteractionStatus) -> Direction {
        guard let direction = Direction(rawValue: try fields.field(0, UInt8.self)) else {
            throw InteractionStatus(.constraintError)
        }
        return direction
    }

    private func move(
        _ fields: TLVValue, withOnOff: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let direction = try direction(fields)
        let rate = try fields.nullableField(1, UInt8.self)
        guard rate != 0 else { throw InteractionStatus(.invalidCommand) }
        if try isIgnored(fields, optionsAt: 2, withOnOff: withOnOff, state) { return .status(.success) }
        let start = start(state, call.now)
        let target = direction == .up ? LevelLimits.highest : LevelLimits.lowest
        guard start != target || turnsOff(target, withOnOff, state) else { return .status(.success) }
        // Without a rate, the level moves as fast as possible.
        let distance = abs(Int64(start) - Int64(target))
        let length = rate.map { Duration.milliseconds(distance * 1000 / Int64($0)) } ?? .zero
        return try state.move(to: target, over: length, withOnOff: withOnOff, for: call)
    }

    private func step(
        _ fields: TLVValue, withOnOff: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let direction = try direction(fields)
        let size = try fields.field(1, UInt8.self)
        let tenths = try fields.nullableField(2, UInt16.self)
        guard size > 0 else { throw InteractionStatus(.invalidCommand) }
        if try isIgnored(fields, optionsAt: 3, withOnOff: withOnOff, state) { return .status(.success) }
        let start = start(state, call.now)
        let wanted = direction == .up ? Int(start) + Int(size) : Int(start) - Int(size)
        let target = UInt8(clamping: min(max(wanted, Int(LevelLimits.lowest)), Int(LevelLimits.highest)))
        guard start != target || turnsOff(target, withOnOff, state) else { return .status(.success) }
        // A step that is cut off at a limit takes a proportional time (1.6.7.3.3).
        let distance = abs(Int64(start) - Int64(target))
        let length = Self.length(tenths: tenths) * Int(distance) / Int(size)
        return try state.move(to: target, over: length, withOnOff: withOnOff, for: call)
    }

    private func stop(
        _ fields: TLVValue, withOnOff: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        if try isIgnored(fields, optionsAt: 0, withOnOff: withOnOff, state) { return .status(.success) }
        guard let end = state.level.end, end > call.now, let level = state.level.current(now: call.now, state.values)
        else { return .status(.success) }
        return try state.move(
            to: max(level, LevelLimits.lowest), over: .zero, withOnOff: false, for: call)
    }
}
