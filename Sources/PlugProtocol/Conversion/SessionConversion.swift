import PlugModel
internal import ProtocolCore

extension WireSubscribe {
    init(_ options: SubscriptionOptions) {
        self.init()
        switch options.events {
        case .none: noEvents = true
        case .fromNow: break
        case .after(let cursor): after = cursor
        }
        if let state = options.state {
            deadBandMw = state.deadBandMilliwatts
            // 0 means the plug's default, so an interval below the wire's resolution is rounded up to it.
            if let interval = state.maximumInterval { maxIntervalMs = max(1, interval.wireMilliseconds32) }
        } else {
            noState = true
        }
    }

    func model() throws(MessageFault) -> SubscriptionOptions {
        let events: SubscriptionOptions.Events =
            noEvents ? .none : hasAfter ? .after(try WireScalar.cursor(after, "after")) : .fromNow
        let interval: Duration? = maxIntervalMs == 0 ? nil : .milliseconds(maxIntervalMs)
        return SubscriptionOptions(
            events: events,
            state: noState ? nil : StateOptions(deadBandMilliwatts: deadBandMw, maximumInterval: interval))
    }
}

extension WireSubscribed {
    init(next: SequenceNumber, gap: Gap?) {
        self.init()
        nextSequence = next
        if let gap { self.gap = WireGap(gap) }
    }
}

extension WireGap {
    init(_ gap: Gap) {
        self.init()
        from = gap.from
        to = gap.to
        reason =
            switch gap.reason {
            case .powerLost: .powerLost
            case .overwritten: .overwritten
            case .unknownCursor: .unknownCursor
            case .storageFailed: .storageFailed
            case .factoryReset: .factoryReset
            case .unknown: .unspecified
            }
    }

    func model() throws(MessageFault) -> Gap {
        let from = try WireScalar.sequence(from, "from")
        let to = try WireScalar.cursor(to, "to")
        let model: Gap.Reason =
            switch reason {
            case .powerLost: .powerLost
            case .overwritten: .overwritten
            case .unknownCursor: .unknownCursor
            case .storageFailed: .storageFailed
            case .factoryReset: .factoryReset
            case .unspecified, .UNRECOGNIZED: .unknown
            }
        // The range can be empty only for an unknown cursor, if the plug has no events yet.
        let least = model == .unknownCursor ? Int64(from) - 1 : Int64(from)
        guard Int64(to) >= least else {
            throw .outOfRange(field: "to", value: Int64(to), allowed: least...Int64.max)
        }
        return Gap(from: from, to: to, reason: model)
    }
}

extension WireWelcome {
    init(_ identity: PlugServer.Identity, now: Instant) {
        self.init()
        version = PlugWire.version
        plugID = identity.id.rawValue
        name = identity.name
        givenName = identity.givenName
        capabilities = identity.capabilities.map(\.rawValue).sorted()
        firmware = identity.firmware
        bootID = .init(identity.boot.bytes)
        plugTime = WireScalar.nanoseconds(now)
        networks = identity.networks.prefix(PlugNetwork.limit).map { WireNetwork($0, now: now) }
        reachability = identity.reachability.prefix(Reachability.limit).map { WireReachability($0) }
        if let registration = identity.registration { self.registration = WireDomainRegistration(registration) }
        if let known = identity.crash { crash = WireCrash(known, now: now) }
        if let known = identity.settings { settings = WireSettings(known) }
    }

    func model(asked: Instant, answered: Instant) throws(MessageFault) -> PlugDescription {
        guard let id = PlugID(rawValue: plugID) else { throw .plugID }
        let boot = try WireScalar.boot(bootID)
        var reachability: [Reachability] = []
        for wire in self.reachability.prefix(Reachability.limit) { reachability.append(try wire.model()) }
        return PlugDescription(
            id: id, name: try WireScalar.name(name, "name"),
            givenName: givenName.isEmpty ? nil : try WireScalar.name(givenName, "given_name"),
            capabilities: Set(capabilities.compactMap(Capability.init(rawValue:))),
            firmware: try WireScalar.name(firmware, "firmware"), boot: boot,
            clock: ClockMapping(
                boot: boot, plugTime: try WireScalar.instant(plugTime, "plug_time"), asked: asked, answered: answered),
            networks: networks.prefix(PlugNetwork.limit).map { $0.model(now: answered) }, reachability: reachability,
            registration: hasRegistration ? registration.model : nil,
            crash: hasCrash ? crash.model(now: answered) : nil, settings: hasSettings ? settings.model : nil,
            role: role.model, nonce: nonce.isEmpty ? [] : try WireScalar.nonce(nonce))
    }
}

extension WireDescriptionChanged {
    init(_ identity: PlugServer.Identity) {
        self.init()
        name = identity.name
        givenName = identity.givenName
        if let known = identity.settings { settings = WireSettings(known) }
    }
}

extension WireGoodbye {
    init(_ goodbye: Goodbye) {
        self.init()
        detail = goodbye.detail
        reason =
            switch goodbye.reason {
            case .stopping: .stopping
            case .version: .version
            case .malformed: .malformed
            case .outOfOrder: .outOfOrder
            case .limit: .limit
            case .silent: .silent
            case .notPaired: .notPaired
            case .pairingClosed: .pairingClosed
            case .wrongCode: .wrongCode
            case .factoryReset: .factoryReset
            case .resetFailed: .resetFailed
            case .unknown: .unspecified
            }
    }

    var model: Goodbye {
        let reason: Goodbye.Reason =
            switch reason {
            case .stopping: .stopping
            case .version: .version
            case .malformed: .malformed
            case .outOfOrder: .outOfOrder
            case .limit: .limit
            case .silent: .silent
            case .notPaired: .notPaired
            case .pairingClosed: .pairingClosed
            case .wrongCode: .wrongCode
            case .factoryReset: .factoryReset
            case .resetFailed: .resetFailed
            case .unspecified, .UNRECOGNIZED: .unknown
            }
        return Goodbye(reason, detail)
    }
}
