import PlugModel

extension WireRelayChanged {
    init(on: Bool, cause: RelayCause) {
        self.init()
        self.on = on
        self.cause = WireCause(cause)
        if case .controller(let name, let request, let authority) = cause {
            controller = name
            requestID = .init(request.bytes)
            self.authority = .init(authority.bytes)
        }
    }
}

extension WireProtectionReset {
    init(_ protection: Protection, cause: RelayCause) {
        self.init()
        self.protection = WireProtection(protection)
        self.cause = WireCause(cause)
        if case .controller(let name, let request, let authority) = cause {
            controller = name
            requestID = .init(request.bytes)
            self.authority = .init(authority.bytes)
        }
    }
}

extension WireCause {
    init(_ cause: RelayCause) {
        switch cause {
        case .button: self = .button
        case .controller: self = .controller
        case .protection: self = .protection
        case .timer: self = .timer
        case .powerOn: self = .powerOn
        }
    }

    /// Decodes a cause with the controller's fields of the same message. Returns nil for a cause of a later version.
    func model(
        controller: String, request: some Collection<UInt8>, authority: some Collection<UInt8>
    ) throws(MessageFault) -> RelayCause? {
        switch self {
        case .button: .button
        case .controller:
            .controller(
                name: try WireScalar.name(controller, "controller"), request: try WireScalar.request(request),
                authority: try WireScalar.authority(authority))
        case .protection: .protection
        case .timer: .timer
        case .powerOn: .powerOn
        case .unspecified, .UNRECOGNIZED: nil
        }
    }
}

extension WireProtection {
    init(_ protection: Protection) {
        switch protection {
        case .overPower: self = .overPower
        case .overCurrent: self = .overCurrent
        case .overVoltage: self = .overVoltage
        case .underVoltage: self = .underVoltage
        case .overTemperature: self = .overTemperature
        case .weldedRelay: self = .weldedRelay
        case .restTime: self = .restTime
        case .switchingRate: self = .switchingRate
        }
    }

    var model: Protection? {
        switch self {
        case .overPower: .overPower
        case .overCurrent: .overCurrent
        case .overVoltage: .overVoltage
        case .underVoltage: .underVoltage
        case .overTemperature: .overTemperature
        case .weldedRelay: .weldedRelay
        case .restTime: .restTime
        case .switchingRate: .switchingRate
        case .unspecified, .UNRECOGNIZED: nil
        }
    }
}
