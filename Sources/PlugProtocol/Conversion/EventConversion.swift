import PlugModel
internal import ProtocolCore

extension WireEvent {
    /// Encodes an event.
    ///
    /// - Parameters:
    ///   - session: the boot in the session's Welcome. Events of that boot omit it.
    ///   - now: the time on the plug's clock, for the age.
    init(_ event: PlugEvent, session: BootID, now: Instant) {
        self.init()
        sequence = event.sequence
        plugTime = WireScalar.nanoseconds(event.time)
        if event.boot == session {
            ageMs = (now - event.time).wireMilliseconds
        } else {
            bootID = .init(event.boot.bytes)
        }
        kind = OneOf_Kind(event.kind)
    }

    /// Decodes the event, or returns nil for a kind of a later version.
    func model(session: BootID) throws(MessageFault) -> PlugEvent? {
        let boot = bootID.isEmpty ? session : try WireScalar.boot(bootID)
        let time = try WireScalar.instant(plugTime, "plug_time")
        guard let kind = try kind?.model() else { return nil }
        return PlugEvent(sequence: sequence, boot: boot, time: time, kind: kind)
    }
}

extension WireEvent.OneOf_Kind {
    init(_ kind: PlugEvent.Kind) {
        switch kind {
        case .relayChanged(let on, let cause):
            self = .relayChanged(WireRelayChanged(on: on, cause: cause))
        case .buttonPressed(let press):
            var wire = WireButtonPressed()
            wire.press = WirePress(press)
            self = .buttonPressed(wire)
        case .protectionTripped(let protection):
            var wire = WireProtectionTripped()
            wire.protection = WireProtection(protection)
            self = .protectionTripped(wire)
        case .protectionReset(let protection, let cause):
            self = .protectionReset(WireProtectionReset(protection, cause: cause))
        case .restarted(let powerLost):
            var wire = WireRestarted()
            wire.powerLost = powerLost
            self = .restarted(wire)
        case .pairingFailed(let failures):
            var wire = WirePairingFailed()
            wire.failures = failures
            self = .pairingFailed(wire)
        case .controllerPaired(let name):
            var wire = WireControllerPaired()
            wire.controller = name
            self = .controllerPaired(wire)
        case .controllerRemoved(let name):
            var wire = WireControllerRemoved()
            wire.controller = name
            self = .controllerRemoved(wire)
        }
    }

    /// Decodes the kind, or returns nil if a value is of a later version.
    func model() throws(MessageFault) -> PlugEvent.Kind? {
        switch self {
        case .relayChanged(let wire):
            guard
                let cause = try wire.cause.model(
                    controller: wire.controller, request: wire.requestID, authority: wire.authority)
            else {
                return nil
            }
            return .relayChanged(on: wire.on, cause: cause)
        case .buttonPressed(let wire):
            guard let press = wire.press.model else { return nil }
            return .buttonPressed(press)
        case .protectionTripped(let wire):
            guard let protection = wire.protection.model else { return nil }
            return .protectionTripped(protection)
        case .protectionReset(let wire):
            guard let protection = wire.protection.model,
                let cause = try wire.cause.model(
                    controller: wire.controller, request: wire.requestID, authority: wire.authority)
            else { return nil }
            return .protectionReset(protection, cause: cause)
        case .restarted(let wire):
            return .restarted(powerLost: wire.powerLost)
        case .pairingFailed(let wire):
            return .pairingFailed(failures: wire.failures)
        case .controllerPaired(let wire):
            return .controllerPaired(name: try WireScalar.name(wire.controller, "controller"))
        case .controllerRemoved(let wire):
            return .controllerRemoved(name: try WireScalar.name(wire.controller, "controller"))
        }
    }
}

extension WirePress {
    init(_ press: ButtonPress) {
        switch press {
        case .single: self = .single
        case .double: self = .double
        case .long: self = .long
        }
    }

    var model: ButtonPress? {
        switch self {
        case .single: .single
        case .double: .double
        case .long: .long
        case .unspecified, .UNRECOGNIZED: nil
        }
    }
}
