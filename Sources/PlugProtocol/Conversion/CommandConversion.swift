import PlugModel
internal import ProtocolCore

extension WireCommand {
    /// Encodes a command.
    ///
    /// - Parameters:
    ///   - within: the time for the execution, at least a millisecond, since 0 means the plug's default.
    ///   - until: the plug time after which the plug drops the command; nil for no limit.
    init(_ command: PlugCommand, request: RequestID, within: Duration, until: Instant? = nil) {
        self.init()
        requestID = .init(request.bytes)
        deadlineMs = max(1, within.wireMilliseconds32)
        if let until { self.until = WireScalar.nanoseconds(until) }
        switch command {
        case .setRelay(let on, let autoOff):
            var wire = WireSetRelay()
            wire.on = on
            // A positive time below the wire's resolution is rounded up to it. Zero stays 0, which the plug refuses.
            if let autoOff { wire.autoOffMs = autoOff > .zero ? max(1, autoOff.wireMilliseconds32) : 0 }
            kind = .setRelay(wire)
        case .setLevel(let level, let transition):
            var wire = WireSetLevel()
            wire.levelPermille = UInt32(level.permille)
            wire.transitionMs = transition.wireMilliseconds32
            kind = .setLevel(wire)
        case .identify:
            kind = .identify(WireIdentify())
        case .resetProtection:
            kind = .resetProtection(WireResetProtection())
        case .rename(let name):
            var wire = WireRename()
            wire.name = name
            kind = .rename(wire)
        case .configure(let change):
            kind = .configure(WireConfigure(change))
        }
    }

    /// The time for the execution, from the arrival of the command.
    var within: Duration { deadlineMs == 0 ? PlugWire.defaultCommandDeadline : .milliseconds(deadlineMs) }

    /// Returns the plug time until which the command may be executed.
    func deadline(now: Instant) throws(MessageFault) -> Instant {
        try hasUntil ? min(now + within, WireScalar.instant(until, "until")) : now + within
    }

    /// Decodes the command. Fails for a value out of range and for a kind of a later version.
    func model() -> Result<PlugCommand, Refusal> {
        switch kind {
        case .setRelay(let wire):
            return .success(
                .setRelay(on: wire.on, autoOff: wire.on && wire.hasAutoOffMs ? .milliseconds(wire.autoOffMs) : nil))
        case .setLevel(let wire):
            guard let level = DimLevel(permille: Int(wire.levelPermille)) else {
                return .failure(Refusal(.outOfRange, "The level is \(wire.levelPermille); 0 to 1000 are allowed."))
            }
            let transition = Duration.milliseconds(wire.transitionMs)
            guard transition <= PlugWire.longestTransition else {
                return .failure(
                    Refusal(.outOfRange, "The transition takes \(wire.transitionMs) ms; at most an hour is allowed."))
            }
            return .success(.setLevel(level, transition: transition))
        case .identify:
            return .success(.identify)
        case .resetProtection:
            return .success(.resetProtection)
        case .rename(let wire):
            // The normalized name is checked, because the plug announces it and normalization can make a name longer.
            let name = wire.name.precomposed
            if let refusal = InstanceNameRule.refusal(of: name) { return .failure(refusal) }
            return .success(.rename(name))
        case .configure(let wire):
            return wire.model().map { .configure($0) }
        case nil:
            return .failure(Refusal(.unsupported, "This plug does not know the command; its firmware may be too old."))
        }
    }
}

extension WireCommandResult {
    init(_ outcome: CommandOutcome, request: RequestID) {
        self.init()
        requestID = .init(request.bytes)
        switch outcome {
        case .done(let state, let event):
            var wire = WireDone()
            wire.state = WireState(state)
            if let event { wire.sequence = event }
            self.outcome = .done(wire)
        case .refused(let refusal):
            self.outcome = .refused(WireRefused(refusal))
        }
    }

    func model() throws(MessageFault) -> (RequestID, CommandOutcome) {
        let request = try WireScalar.request(requestID)
        switch outcome {
        case .done(let wire):
            let event = wire.hasSequence ? try WireScalar.sequence(wire.sequence, "sequence") : nil
            return (request, .done(try wire.state.model(), event: event))
        case .refused(let wire):
            return (request, .refused(Refusal(wire.code.model, wire.detail)))
        case nil:
            // An outcome of a later version still answers the command.
            return (
                request, .refused(Refusal(.unknown, "The plug's answer has an unknown format; update the controller."))
            )
        }
    }
}

extension WireRefused {
    init(_ refusal: Refusal) {
        self.init()
        code = WireRefusalCode(refusal.code)
        detail = refusal.detail
    }
}

extension WireRefusalCode {
    init(_ code: Refusal.Code) {
        switch code {
        case .notPaired: self = .notPaired
        case .protectionTripped: self = .protectionTripped
        case .unsupported: self = .unsupported
        case .outOfRange: self = .outOfRange
        case .busy: self = .busy
        case .deadlinePassed: self = .deadlinePassed
        case .lockedOn: self = .lockedOn
        case .resting: self = .resting
        case .storageFailed: self = .storageFailed
        case .notAllowed: self = .notAllowed
        case .unknown: self = .unspecified
        }
    }

    var model: Refusal.Code {
        switch self {
        case .notPaired: .notPaired
        case .protectionTripped: .protectionTripped
        case .unsupported: .unsupported
        case .outOfRange: .outOfRange
        case .busy: .busy
        case .deadlinePassed: .deadlinePassed
        case .lockedOn: .lockedOn
        case .resting: .resting
        case .storageFailed: .storageFailed
        case .notAllowed: .notAllowed
        case .unspecified, .UNRECOGNIZED: .unknown
        }
    }
}
