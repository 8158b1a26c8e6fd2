import PlugModel
internal import ProtocolCore

extension WireSettings {
    init(_ settings: RemoteSettings) {
        self.init()
        powerOn = WirePowerOn(settings.powerOn)
        if let autoOff = settings.autoOff { autoOffMs = max(1, autoOff.wireMilliseconds32) }
        if let limit = settings.powerLimit { powerLimitDw = limit }
        if let lock = settings.childLock { childLock = lock }
        if let span = settings.lightOff { lightOff = WireDailySpan(span) }
    }

    /// The settings, or nil if a value is of a later version.
    var model: RemoteSettings? {
        guard let powerOn = powerOn.model else { return nil }
        return RemoteSettings(
            powerOn: powerOn, autoOff: autoOffMs == 0 ? nil : .milliseconds(autoOffMs),
            powerLimit: hasPowerLimitDw ? powerLimitDw : nil, childLock: hasChildLock ? childLock : nil,
            lightOff: hasLightOff ? lightOff.model : nil)
    }
}

extension WireDailySpan {
    init(_ span: DailySpan) {
        self.init()
        fromMinute = UInt32(span.from)
        untilMinute = UInt32(span.until)
    }

    /// The span, or nil if it is not one of minutes of a day.
    var model: DailySpan? { DailySpan(from: Int(fromMinute), until: Int(untilMinute)) }
}

extension WirePowerOn {
    init(_ state: PowerOnState) {
        switch state {
        case .off: self = .off
        case .on: self = .on
        case .last: self = .last
        case .lockedOn: self = .lockedOn
        }
    }

    var model: PowerOnState? {
        switch self {
        case .off: .off
        case .on: .on
        case .last: .last
        case .lockedOn: .lockedOn
        case .unspecified, .UNRECOGNIZED: nil
        }
    }
}

extension WireConfigure {
    init(_ change: SettingsChange) {
        self.init()
        switch change.powerOn {
        case .value(let state): powerOn = WirePowerOn(state)
        case .asConfigured: asConfigured.append(.powerOn)
        case nil: break
        }
        switch change.autoOff {
        // A positive time below a millisecond is rounded up to 1 ms, and the plug refuses that value. 0 means that the
        // plug stays on.
        case .value(let time): autoOffMs = time > .zero ? max(1, time.wireMilliseconds32) : 0
        case .asConfigured: asConfigured.append(.autoOff)
        case nil: break
        }
        switch change.powerLimit {
        case .value(let limit): powerLimitDw = limit
        case .asConfigured: asConfigured.append(.powerLimit)
        case nil: break
        }
        switch change.childLock {
        case .value(let lock): childLock = lock
        case .asConfigured: asConfigured.append(.childLock)
        case nil: break
        }
        switch change.lightOff {
        case .value(let span): lightOff = WireDailySpan(span)
        case .asConfigured: asConfigured.append(.lightOff)
        case nil: break
        }
    }

    /// Decodes the change. Fails if the message has anything that this version does not know, because a change must not
    /// be applied in part and reported as done.
    func model() -> Result<SettingsChange, Refusal> {
        guard unknownFields.data.isEmpty, lightOff.unknownFields.data.isEmpty else {
            return .failure(.unknownSetting)
        }
        var change = SettingsChange()
        for setting in asConfigured {
            switch setting {
            case .powerOn: change.powerOn = .asConfigured
            case .autoOff: change.autoOff = .asConfigured
            case .powerLimit: change.powerLimit = .asConfigured
            case .childLock: change.childLock = .asConfigured
            case .lightOff: change.lightOff = .asConfigured
            case .unspecified, .UNRECOGNIZED: return .failure(.unknownSetting)
            }
        }
        let isTwice =
            hasPowerOn && change.powerOn != nil || hasAutoOffMs && change.autoOff != nil
            || hasPowerLimitDw && change.powerLimit != nil || hasChildLock && change.childLock != nil
            || hasLightOff && change.lightOff != nil
        guard !isTwice else {
            return .failure(
                Refusal(
                    .outOfRange, "A setting cannot be changed and reset to the plug's configuration at the same time."))
        }
        if hasPowerOn {
            guard let state = powerOn.model else { return .failure(.unknownSetting) }
            change.powerOn = .value(state)
        }
        if hasAutoOffMs { change.autoOff = .value(.milliseconds(autoOffMs)) }
        if hasPowerLimitDw { change.powerLimit = .value(powerLimitDw) }
        if hasChildLock { change.childLock = .value(childLock) }
        if hasLightOff {
            guard let span = lightOff.model else {
                return .failure(Refusal(.outOfRange, "A time of day is 00:00 to 23:59."))
            }
            change.lightOff = .value(span)
        }
        guard change != SettingsChange() else { return .failure(.unknownSetting) }
        return .success(change)
    }
}

extension Refusal {
    fileprivate static let unknownSetting = Refusal(
        .unsupported, "This plug does not know the setting, or its value; its firmware may be too old.")
}

/// The rules for names of plugs and controllers, in normalization form C.
enum InstanceNameRule {
    /// Returns the reason why a name is not allowed, or nil if it is.
    static func refusal(of name: String) -> Refusal? {
        let bytes = name.utf8.count
        guard (1...PlugWire.maximumName).contains(bytes) else {
            return Refusal(
                .outOfRange, "A name has 1 to \(PlugWire.maximumName) bytes of UTF-8; this one has \(bytes).")
        }
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return Refusal(.outOfRange, "A name must not contain control characters.")
        }
        guard !name.unicodeScalars.contains(where: isDisturbing) else {
            return Refusal(
                .outOfRange,
                "A name must be one line, without invisible characters and marks that change the writing direction.")
        }
        guard name.unicodeScalars.contains(where: isVisible) else {
            return Refusal(.outOfRange, "A name must have at least one visible character.")
        }
        return nil
    }

    /// Returns true for line and paragraph separators, zero-width characters, soft hyphens, and marks that set a text
    /// direction. With them a name could imitate another one or change the text around it. The joiners U+200C and
    /// U+200D are allowed, because words and emoji contain them.
    private static func isDisturbing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        case _: false
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
    }
}
