import Metering
import ProtocolCore
import Testing

import PlugModel

@testable import PlugProtocol

@Suite struct ConversionTests {
    static let causes = [
        RelayCause.button, .protection, .timer, .powerOn, .controller(name: "Küche", request: request(9)),
    ]
    static let kinds: [PlugEvent.Kind] =
        causes.map { .relayChanged(on: true, cause: $0) } + causes.map { .protectionReset(.weldedRelay, cause: $0) }
        + Protection.allCases.map { .protectionReset($0, cause: .button) }
        + [.relayChanged(on: false, cause: .button)]
        + ButtonPress.allCases.map { .buttonPressed($0) } + Protection.allCases.map { .protectionTripped($0) }
        + [
            .restarted(powerLost: true), .restarted(powerLost: false), .pairingFailed(failures: 7),
            .controllerPaired(name: "Küche"), .controllerRemoved(name: ""),
        ]

    @Test("Every kind of event is unchanged after encoding and decoding", arguments: kinds)
    func everyEventSurvivesTheWire(kind: PlugEvent.Kind) throws {
        let event = PlugEvent(sequence: 5, boot: boot, time: at(1.5), kind: kind)
        let wire = WireEvent(event, session: boot, now: at(3.7506))
        #expect(try wire.model(session: boot) == event)
        #expect(wire.bootID.isEmpty)
        #expect(wire.ageMs == 2250)
    }

    @Test("An event of another boot has no age")
    func anEventOfAnotherBootHasNoAge() throws {
        let event = PlugEvent(sequence: 5, boot: otherBoot, time: at(900), kind: .buttonPressed(.long))
        let wire = WireEvent(event, session: boot, now: at(3))
        #expect(!wire.hasAgeMs)
        #expect(try wire.model(session: boot)?.boot == otherBoot)
    }

    @Test("States are unchanged after encoding and decoding")
    func statesSurviveTheWire() throws {
        let reading = Reading(
            time: at(1), deciwatts: -15, decivolts: 2301, milliamperes: 17, milliwattHours: 123_456_789_012)
        for state in [
            PlugState(relayOn: false), PlugState(relayOn: true, level: DimLevel(permille: 0)),
            PlugState(relayOn: true, level: .full, reading: reading),
            PlugState(relayOn: true, reading: Reading(time: .zero, deciwatts: 0, milliwattHours: 0)),
        ] + Protection.allCases.map({ PlugState(relayOn: false, tripped: $0) }) {
            #expect(try WireState(state).model() == state)
        }
    }

    @Test("Sleepers are unchanged after encoding and decoding")
    func sleepersSurviveTheWire() throws {
        let wakes = Dictionary(
            uniqueKeysWithValues: PlugSleeper.WakeCause.allCases.enumerated().map { ($1, UInt32($0)) })
        let sleepers = [
            PlugSleeper(
                host: "nas.local", card: "02:00:00:00:00:10", addresses: ["192.0.2.7", "2001:db8::7"],
                asleepSince: at(7),
                sleptSeconds: 3600, sleeps: 2, wakes: wakes, lastCause: .leaseEnd),
            PlugSleeper(host: "", card: "", asleepSince: .zero, sleptSeconds: WireScalar.longestSleep, sleeps: .max),
        ]
        let state = PlugState(relayOn: true, sleepers: sleepers)
        #expect(try WireState(state).model() == state)
    }

    @Test("A plug sends at most 32 sleepers and cuts long host names")
    func sleepersAreLimited() throws {
        let sleeper = PlugSleeper(
            host: String(repeating: "ä", count: 200), card: "02:00:00:00:00:10", sleptSeconds: .max)
        let sent = try WireState(PlugState(relayOn: true, sleepers: Array(repeating: sleeper, count: 33))).model()
        #expect(sent.sleepers.count == 32)
        #expect(sent.sleepers[0].host == String(repeating: "ä", count: 127))
        #expect(sent.sleepers[0].sleptSeconds == WireScalar.longestSleep)
    }

    @Test("Sleepers outside their limits are rejected, and unknown causes are left out")
    func hostileSleepers() throws {
        let changes: [(inout WireState) -> Void] = [
            { $0.sleepers = Array(repeating: WireSleeper(), count: 33) },
            { $0.sleepers[0].host = String(repeating: "a", count: 256) },
            { $0.sleepers[0].hardwareAddress = String(repeating: "a", count: 18) },
            { $0.sleepers[0].addresses = ["", "", "", ""] },
            { $0.sleepers[0].addresses = [String(repeating: "1", count: 46)] },
            { $0.sleepers[0].asleepSince = .max }, { $0.sleepers[0].asleepSince = 1 << 60 + 1 },
            { $0.sleepers[0].sleptSeconds = .max },
        ]
        for change in changes {
            var state = WireState(PlugState(relayOn: true, sleepers: [PlugSleeper(host: "nas", card: "")]))
            change(&state)
            #expect(throws: MessageFault.self) { try state.model() }
        }
        var wire = WireState(PlugState(relayOn: true))
        var count = WireWakeCount()
        count.cause = .UNRECOGNIZED(99)
        count.count = .max
        var sleeper = WireSleeper()
        sleeper.wakes = [count, WireWakeCount(.connection, 1), WireWakeCount(.connection, 2)]
        sleeper.lastCause = .UNRECOGNIZED(99)
        wire.sleepers = [sleeper]
        #expect(try wire.model().sleepers == [PlugSleeper(host: "", card: "", wakes: [.connection: 2])])
    }

    @Test("Alternating current values are unchanged after encoding and decoding")
    func whatOnlyAlternatingCurrentHasSurvivesTheWire() throws {
        var reading = Reading(time: at(1), deciwatts: -15, milliwattHours: 1)
        for alternating in [
            AlternatingPower(
                apparentDecivoltAmperes: 217, reactiveDecivars: -216, powerFactorThousandths: -69, millihertz: 49_987),
            AlternatingPower(apparentDecivoltAmperes: .max, reactiveDecivars: .min, powerFactorThousandths: 1000),
            AlternatingPower(
                apparentDecivoltAmperes: 0, reactiveDecivars: 0, powerFactorThousandths: -1000,
                millihertz: 0),
        ] {
            reading.alternating = alternating
            #expect(try WireReading(reading).model() == reading)
        }
    }

    @Test(
        "Alternating current values are ignored without an apparent power, and otherwise rejected unless all are valid")
    func whatOnlyAlternatingCurrentHasComesWholeOrNotAtAll() throws {
        let alternating = AlternatingPower(
            apparentDecivoltAmperes: 217, reactiveDecivars: 9, powerFactorThousandths: 999, millihertz: 50_000)
        let whole = WireReading(Reading(time: .zero, deciwatts: 1, alternating: alternating, milliwattHours: 0))
        var cut = whole
        cut.clearReactivePowerDvar()
        #expect(throws: MessageFault.missing(field: "reactive_power_dvar")) { try cut.model() }
        cut = whole
        cut.clearPowerFactorPermille()
        #expect(throws: MessageFault.missing(field: "power_factor_permille")) { try cut.model() }
        cut = whole
        cut.clearApparentPowerDva()
        #expect(try cut.model().alternating == nil)
        for factor in [-1001, 1001] as [Int32] {
            cut = whole
            cut.powerFactorPermille = factor
            #expect(
                throws: MessageFault.outOfRange(
                    field: "power_factor_permille", value: Int64(factor), allowed: -1000...1000)
            ) { try cut.model() }
        }
    }

    @Test("Commands are unchanged after encoding and decoding")
    func commandsSurviveTheWire() {
        let commands: [PlugCommand] = [
            .setRelay(on: true, autoOff: nil), .setRelay(on: true, autoOff: .seconds(90)),
            .setRelay(on: true, autoOff: .milliseconds(1)), .setRelay(on: true, autoOff: .zero),
            .setRelay(on: false, autoOff: nil),
            .setLevel(DimLevel(permille: 333)!, transition: .seconds(3600)), .setLevel(.full, transition: .zero),
            .identify, .resetProtection,
        ]
        for command in commands {
            let wire = WireCommand(command, request: request(3), within: .milliseconds(1234))
            #expect(wire.model() == .success(command))
            #expect(wire.within == .milliseconds(1234))
        }
        let short = WireCommand(.setRelay(on: true, autoOff: .nanoseconds(1)), request: request(3), within: .zero)
        #expect(short.model() == .success(.setRelay(on: true, autoOff: .milliseconds(1))))
        #expect(WireCommand().within == .seconds(5))
        var endless = WireCommand()
        endless.until = .max
        #expect(throws: MessageFault.self) { try endless.deadline(now: .zero) }
        #expect(WireCommand(.identify, request: request(3), within: .microseconds(1)).within == .milliseconds(1))
    }

    @Test("Outcomes are unchanged after encoding and decoding")
    func outcomesSurviveTheWire() throws {
        let outcomes: [CommandOutcome] =
            [.done(PlugState(relayOn: true), event: nil), .done(PlugState(relayOn: false, level: .full), event: 77)]
            + Refusal.Code.allCases.map { .refused(Refusal($0, "because")) }
        for outcome in outcomes {
            let (id, back) = try WireCommandResult(outcome, request: request(4)).model()
            #expect(id == request(4))
            #expect(back == outcome)
        }
    }

    @Test("Subscriptions, gaps and Goodbyes are unchanged after encoding and decoding")
    func subscriptionsGapsAndGoodbyesSurviveTheWire() throws {
        for options in [
            SubscriptionOptions(events: .none), SubscriptionOptions(events: .fromNow, state: nil),
            SubscriptionOptions(events: .after(0)),
            SubscriptionOptions(
                events: .after(12), state: StateOptions(deadBandMilliwatts: 500, maximumInterval: .milliseconds(250))),
        ] {
            #expect(try WireSubscribe(options).model() == options)
        }
        for reason in Gap.Reason.allCases {
            let gap = Gap(from: 2, to: 9, reason: reason)
            #expect(try WireGap(gap).model() == gap)
        }
        for reason in Goodbye.Reason.allCases {
            #expect(WireGoodbye(Goodbye(reason, "x")).model == Goodbye(reason, "x"))
        }
    }

    @Test("Values of a later protocol version are tolerated")
    func valuesOfALaterVersionAreTolerated() throws {
        var event = WireEvent(
            PlugEvent(sequence: 1, boot: boot, time: .zero, kind: .buttonPressed(.single)), session: boot, now: .zero)
        event.buttonPressed.press = .UNRECOGNIZED(99)
        #expect(try event.model(session: boot) == nil)
        event.relayChanged.cause = .UNRECOGNIZED(99)
        #expect(try event.model(session: boot) == nil)
        event.protectionReset = WireProtectionReset(.overPower, cause: .button)
        event.protectionReset.protection = .UNRECOGNIZED(99)
        #expect(try event.model(session: boot) == nil)
        event.protectionReset = WireProtectionReset(.overPower, cause: .button)
        event.protectionReset.cause = .UNRECOGNIZED(99)
        #expect(try event.model(session: boot) == nil)
        // A later plug may report an unknown protection. The controller ignores it and shows the plug as not tripped.
        var state = WireState(PlugState(relayOn: false, tripped: .restTime))
        state.tripped = .UNRECOGNIZED(99)
        #expect(try state.model() == PlugState(relayOn: false))
        event.kind = nil
        #expect(try event.model(session: boot) == nil)
        var gap = WireGap(Gap(from: 1, to: 2, reason: .powerLost))
        gap.reason = .UNRECOGNIZED(99)
        #expect(try gap.model().reason == .unknown)
        var welcome = WireWelcome(lamp, now: .zero)
        welcome.capabilities.append("teapot")
        #expect(try welcome.model(asked: .zero, answered: .zero).capabilities == lamp.capabilities)
    }

    @Test("A limited number of networks is sent, each with the remaining time of its lease")
    func networksAreToldWithTheTimeThatALeaseHasLeft() throws {
        let lease = PlugNetwork.Lease(
            address: "192.0.2.9", server: "192.0.2.1", router: "192.0.2.1", expires: .zero + .seconds(3600))
        let wired = PlugNetwork(
            name: "eth0", isManaged: true, reason: "why", hardwareAddress: "02:00:00:00:00:01",
            addresses: ["192.0.2.9", "fe80::1"], linkLocal: "169.254.7.8", lease: lease, conflicts: 3)
        let wireless = PlugNetwork(name: "wlan0", isManaged: false, reason: "not", hardwareAddress: "")
        var identity = lamp
        identity.networks = [wired, wireless]
        let welcome = WireWelcome(identity, now: .zero + .seconds(600))
        #expect(welcome.networks[0].leaseSeconds == 3000)
        var told = wired
        told.lease?.expires = .zero + .seconds(3007)
        #expect(
            try welcome.model(asked: .zero, answered: .zero + .seconds(7)).networks == [told, wireless])
        identity.networks = Array(repeating: wireless, count: 40)
        #expect(WireWelcome(identity, now: .zero).networks.count == PlugNetwork.limit)
        // A lease without an end and without a router.
        told.lease = PlugNetwork.Lease(address: "192.0.2.9", server: "192.0.2.1", router: nil, expires: nil)
        identity.networks = [told]
        #expect(try WireWelcome(identity, now: .zero).model(asked: .zero, answered: .zero).networks == [told])
    }

    @Test(
        "The registration in a domain is sent",
        arguments: [
            nil, .registered(name: "Lamp", domain: "example.org"),
            .failed(domain: "example.org", reason: "why", hint: nil),
            .failed(domain: "example.org", reason: "why", hint: "do this"),
        ] as [DomainRegistration?])
    func registration(_ registration: DomainRegistration?) throws {
        var identity = lamp
        identity.registration = registration
        #expect(
            try WireWelcome(identity, now: .zero).model(asked: .zero, answered: .zero).registration == registration)
    }

    @Test("The results of mapping the port are sent, and a port that cannot exist ends the session")
    func reachability() throws {
        let results: [Reachability] = [
            .mapped(address: "198.51.100.7", port: 4711, isPublic: true),
            .unmapped(reason: "the network has no router", hint: nil),
            .mapped(address: "192.168.7.2", port: 65_535, isPublic: false), .unmapped(reason: "why", hint: "do this"),
        ]
        var identity = lamp
        for pair in [Array(results[..<2]), Array(results[2...])] {
            identity.reachability = pair
            #expect(try WireWelcome(identity, now: .zero).model(asked: .zero, answered: .zero).reachability == pair)
        }
        identity.reachability = results
        var welcome = WireWelcome(identity, now: .zero)
        #expect(welcome.reachability.count == Reachability.limit)
        for port in [0, 65_536] as [UInt32] {
            welcome.reachability[0].port = port
            #expect(throws: MessageFault.outOfRange(field: "port", value: Int64(port), allowed: 1...65_535)) {
                try welcome.model(asked: .zero, answered: .zero)
            }
        }
    }

    @Test("A crash report is sent with its age and truncated to its limit")
    func aCrashIsToldWithItsAgeAndWithinItsLimit() throws {
        var identity = lamp
        func told(_ crash: PlugCrash?) throws -> PlugCrash? {
            identity.crash = crash
            return try WireWelcome(identity, now: at(600)).model(asked: .zero, answered: at(7)).crash
        }
        #expect(try told(nil) == nil)
        #expect(
            try told(PlugCrash(report: "signal\n", count: 2, at: at(595)))
                == PlugCrash(report: "signal\n", count: 2, at: at(2)))
        let old = PlugCrash(report: String(repeating: "ü", count: 5000), count: 0, at: nil)
        let known = try #require(try told(old))
        #expect(known.report.utf8.count <= PlugCrash.limit && known.report.allSatisfy { $0 == "ü" } && known.at == nil)
        var welcome = WireWelcome(identity, now: .zero)
        welcome.crash.ageMs = .max
        #expect(try welcome.model(asked: .zero, answered: .zero).crash?.at == nil)
    }

    @Test("Values out of range are rejected with their field")
    func valuesOutOfRangeAreNamed() {
        var state = WireState()
        state.levelPermille = 1001
        #expect(throws: MessageFault.outOfRange(field: "level_permille", value: 1001, allowed: 0...1000)) {
            try state.model()
        }
        var reading = WireReading()
        reading.voltageDv = 70_000
        #expect(throws: MessageFault.outOfRange(field: "voltage_dv", value: 70_000, allowed: 0...65_535)) {
            try reading.model()
        }
        #expect(throws: MessageFault.length(field: "request_id", bytes: 3, allowed: 16...16)) {
            try WireScalar.request([1, 2, 3])
        }
        var gap = WireGap(Gap(from: 5, to: 9, reason: .powerLost))
        gap.to = 4
        #expect(throws: MessageFault.self) { try gap.model() }
        gap.from = .max
        #expect(throws: MessageFault.self) { try gap.model() }
        reading = WireReading()
        reading.activeEnergyMwh = PlugWire.greatestEnergy + 1
        #expect(
            throws: MessageFault.outOfRange(
                field: "active_energy_mwh", value: 1 << 53 + 1, allowed: 0...1 << 53)
        ) { try reading.model() }
        reading.activeEnergyMwh = .max
        #expect(throws: MessageFault.self) { try reading.model() }
        reading = WireReading()
        reading.plugTime = 1 << 60 + 1
        #expect(throws: MessageFault.self) { try reading.model() }
        for sequence in [0, 1 << 62 + 1, .max] as [UInt64] {
            #expect(throws: MessageFault.self) { try WireScalar.sequence(sequence, "sequence") }
        }
        for age in [UInt64(Int64.max), .max] { #expect(throws: MessageFault.self) { try WireScalar.age(age) } }
        var level = WireCommand()
        level.setLevel.levelPermille = 1001
        guard case .failure(let refusal) = level.model() else {
            Issue.record("a level above full was accepted")
            return
        }
        #expect(refusal.code == .outOfRange)
        level.setLevel.levelPermille = 10
        level.setLevel.transitionMs = 3_600_001
        #expect(throws: Refusal.self) { try level.model().get() }
    }

    @Test("The clock estimate is the middle of the round trip, and the uncertainty is half of the round trip")
    func theClocksMeetInTheMiddleOfTheRoundTrip() {
        let mapping = ClockMapping(boot: boot, plugTime: at(5), asked: at(100), answered: at(100.2))
        #expect(mapping.uncertainty == .milliseconds(100))
        #expect(mapping.instant(ofPlugTime: at(5)) == at(100.1))
        #expect(mapping.instant(ofPlugTime: at(4)) == at(99.1))
    }

    @Test("The protocol's constants do not change")
    func theNumbersOfTheProtocolStand() {
        #expect(PlugWire.version == 1)
        #expect(PlugWire.maximumMessage == 65_536)
        #expect(PlugWire.pingInterval == .seconds(20))
        #expect(PlugWire.silenceLimit == .seconds(45))
        #expect(PlugWire.defaultReadingInterval == .seconds(1))
        #expect(PlugWire.defaultCommandDeadline == .seconds(5))
        #expect(PlugWire.longestTransition == .seconds(3600))
        #expect(PlugWire.requestsInFlight == 16)
    }
}
