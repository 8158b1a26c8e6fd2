import ProtocolCore
import SwiftProtobuf
import Testing

@testable import PlugProtocol
import PlugModel

/// Tests of the commands Rename and Configure, and of the notifications that sessions get after them.
@Suite struct SettingsTests {
    private func results(_ bench: inout Bench, _ connection: ConnectionID = first) throws -> [CommandOutcome] {
        try bench.take(connection).compactMap { kind in
            guard case .result(let result) = kind else { return nil }
            return try result.model().1
        }
    }

    private func code(_ outcome: CommandOutcome?) -> Refusal.Code? {
        guard case .refused(let refusal) = outcome else { return nil }
        return refusal.code
    }

    @Test("Decoding returns the encoded settings change, except that an auto-off time below 1 ms becomes 1 ms")
    func everyChangeSurvivesTheWire() {
        let changes: [SettingsChange] = [
            SettingsChange(powerOn: .value(.off)), SettingsChange(powerOn: .value(.lockedOn)),
            SettingsChange(autoOff: .value(.zero)), SettingsChange(autoOff: .value(.milliseconds(1500))),
            SettingsChange(powerLimit: .value(0)), SettingsChange(powerLimit: .value(.max)),
            SettingsChange(powerOn: .asConfigured, autoOff: .asConfigured, powerLimit: .asConfigured),
            SettingsChange(powerOn: .value(.last), autoOff: .asConfigured, powerLimit: .value(20_000)),
            SettingsChange(childLock: .value(true)), SettingsChange(childLock: .value(false)),
            SettingsChange(powerOn: .value(.on), childLock: .asConfigured),
            SettingsChange(lightOff: .value(.never)), SettingsChange(childLock: .value(true), lightOff: .asConfigured),
            SettingsChange(lightOff: .value(DailySpan(from: 1320, until: 420)!)),
        ]
        for change in changes {
            let wire = WireCommand(.configure(change), request: request(1), within: .seconds(1))
            #expect(wire.model() == .success(.configure(change)))
        }
        let short = WireCommand(
            .configure(SettingsChange(autoOff: .value(.nanoseconds(1)))), request: request(1), within: .seconds(1))
        #expect(short.model() == .success(.configure(SettingsChange(autoOff: .value(.milliseconds(1))))))
    }

    @Test("Settings are unchanged after encoding and decoding")
    func settingsSurviveTheWire() {
        for powerOn in PowerOnState.allCases {
            for settings in [
                RemoteSettings(powerOn: powerOn),
                RemoteSettings(powerOn: powerOn, autoOff: .seconds(90), powerLimit: 0),
                RemoteSettings(powerOn: powerOn, lightOff: .never),
                RemoteSettings(powerOn: powerOn, childLock: true, lightOff: DailySpan(from: 1, until: 1439)),
                RemoteSettings(powerOn: powerOn, childLock: false), RemoteSettings(powerOn: powerOn, childLock: true),
            ] {
                #expect(WireSettings(settings).model == settings)
            }
        }
        #expect(WireSettings().model == nil, "a value of a later version is ignored")
    }

    @Test(
        "Valid names are unchanged after encoding and decoding",
        arguments: ["Lamp", "L", "Büro 🪴", String(repeating: "x", count: 63)])
    func aNameThatAPlugCanHaveSurvivesTheWire(name: String) {
        #expect(
            WireCommand(.rename(name), request: request(1), within: .seconds(1)).model() == .success(.rename(name)))
    }

    @Test("The length limit applies to the normalized name")
    func aNameIsMeasuredAsItIsAnnounced() {
        func taken(_ name: String) -> Result<PlugCommand, Refusal> {
            WireCommand(.rename(name), request: request(1), within: .seconds(1)).model()
        }
        // 63 bytes, which normalization expands to 126.
        guard case .failure(let refusal) = taken(String(repeating: "\u{958}", count: 21)) else {
            Issue.record("a name beyond the limit was accepted")
            return
        }
        #expect(refusal.code == .outOfRange)
        guard case .success(.rename(let name)) = taken("Bu\u{308}ro") else {
            Issue.record("a valid name was refused")
            return
        }
        #expect(Array(name.utf8) == Array("B\u{FC}ro".utf8))
    }

    @Test(
        "A name with misleading characters is refused",
        arguments: [
            "a\u{2028}b", "a\u{2029}b", "a\u{202E}b", "\u{2066}a\u{2069}", "\u{200B}", "\u{FE0F} \u{2060}", "\u{3164}",
        ])
    func aNameThatMisleadsIsRefused(name: String) {
        guard case .failure(let refusal) = WireCommand(.rename(name), request: request(1), within: .seconds(1)).model()
        else {
            Issue.record("a misleading name was accepted")
            return
        }
        #expect(refusal.code == .outOfRange)
    }

    @Test(
        "A name that is empty, invisible or too long, or has a control character, is refused as out of range",
        arguments: ["", " ", "\u{2003}\u{A0}", "a\nb", "\u{7F}", "a\u{85}", String(repeating: "x", count: 64)])
    func aNameThatNoPlugCanHaveIsOutOfRange(name: String) throws {
        var bench = Bench()
        bench.greet()
        let actions = bench.say {
            $0.command = WireCommand(.rename(name), request: request(1), within: .seconds(1))
        }
        #expect(actions.isEmpty)
        #expect(try results(&bench).map { code($0) } == [.outOfRange])
    }

    @Test("A configuration with an unknown setting or value is refused completely")
    func whatAPlugDoesNotKnowItRefusesAsAWhole() throws {
        var bytes: [UInt8] = try WireConfigure(SettingsChange(powerOn: .value(.on))).serializedBytes()
        // Field 15, a number.
        bytes += [15 << 3, 7]
        let later = try WireConfigure(serializedBytes: bytes)
        var unknownSetting = WireConfigure(SettingsChange(autoOff: .value(.seconds(1))))
        unknownSetting.asConfigured = [.UNRECOGNIZED(99)]
        var unknownValue = WireConfigure()
        unknownValue.powerOn = .UNRECOGNIZED(99)
        var laterSpan = WireConfigure(SettingsChange(lightOff: .value(.never)))
        // Field 15 of the span, a number.
        laterSpan.lightOff = try WireDailySpan(serializedBytes: [15 << 3, 7])
        for wire in [later, laterSpan, unknownSetting, unknownValue, WireConfigure()] {
            var bench = Bench()
            bench.greet()
            let actions = bench.say {
                $0.command.requestID = .init(request(1).bytes)
                $0.command.configure = wire
            }
            #expect(actions.isEmpty)
            #expect(try results(&bench).map { code($0) } == [.unsupported], "\(wire)")
        }
        var twice = WireConfigure(SettingsChange(autoOff: .value(.seconds(1))))
        twice.asConfigured = [.autoOff]
        var lock = WireConfigure(SettingsChange(childLock: .value(true)))
        lock.asConfigured = [.childLock]
        var light = WireConfigure(SettingsChange(lightOff: .value(.never)))
        light.asConfigured = [.lightOff]
        var late = WireConfigure()
        late.lightOff.untilMinute = 1440
        for wire in [twice, lock, light, late] {
            guard case .failure(let refusal) = wire.model() else {
                Issue.record("accepted: a value and a removal of the same setting, or a minute that no day has")
                return
            }
            #expect(refusal.code == .outOfRange)
        }
    }

    /// An older plug handles Rename and Configure, fields 7 and 8 of Command, in the same way as this unknown field.
    @Test("A command of a later protocol version is refused and the session continues")
    func aCommandOfALaterVersionIsRefusedAndTheSessionGoesOn() throws {
        var bench = Bench()
        bench.greet()
        // The request id, and a message in field 15.
        var bytes: [UInt8] = [10, 16]
        bytes += request(1).bytes
        bytes += [15 << 3 | 2, 3, 10, 1, 65]
        let command = try WireCommand(serializedBytes: bytes)
        #expect(bench.say { $0.command = command }.isEmpty)
        #expect(try results(&bench).map { code($0) } == [.unsupported])
        bench.say { $0.ping.token = 5 }
        #expect(bench.take().count == 1)
    }

    @Test("Rename is executed once per request")
    func renamingIsCarriedOutOnceForItsRequest() throws {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        let rename = { (message: inout WireControllerMessage) in
            message.command = WireCommand(.rename("Lounge"), request: request(1), within: .seconds(2))
        }
        #expect(bench.say(rename).count == 1)
        #expect(bench.say(on: second, rename).isEmpty)
        bench.handle(.commandOutcome(command(1), .done(bench.server.state, event: nil)))
        let answer = CommandOutcome.done(bench.server.state, event: nil)
        #expect(try results(&bench) == [answer])
        #expect(try results(&bench, second) == [answer])
        #expect(bench.say(rename).isEmpty)
        #expect(try results(&bench) == [answer])
    }

    @Test("An unpaired controller cannot rename the plug")
    func nobodyWhoIsNotPairedRenames() {
        var bench = Bench(paired: [])
        bench.handle(opening(first))
        let actions = bench.say {
            $0.command = WireCommand(.rename("Mine"), request: request(1), within: .seconds(2))
        }
        #expect(!actions.contains { if case .perform = $0 { true } else { false } })
        #expect(bench.take().compactMap(\.goodbyeReason) == [.outOfOrder])
    }

    @Test("Every session is notified once of a new name and of new settings of the plug")
    func everySessionHearsOfANewNameAndOfNewSettingsOnce() {
        var bench = Bench()
        bench.greet(first)
        bench.handle(opening(second))
        let settings = RemoteSettings(powerOn: .on, autoOff: .seconds(60))
        bench.handle(.renamed("Lounge"))
        bench.handle(.renamed("Lounge"))
        bench.handle(.configured(settings))
        var told: [WireDescriptionChanged] = []
        for case .descriptionChanged(let wire) in bench.take() { told.append(wire) }
        #expect(told.map(\.name) == ["Lounge", "Lounge"])
        #expect(told.map(\.settings.model) == [nil, settings])
        #expect(bench.take(second).isEmpty, "the second session has not sent Hello")
        bench.say(on: second) {
            $0.hello.version = 1
            $0.hello.controller = "Hall"
        }
        guard case .welcome(let welcome) = bench.take(second).first else {
            Issue.record("no Welcome was sent")
            return
        }
        #expect(welcome.name == "Lounge" && welcome.settings.model == settings)
    }

    @Test("A controller session delivers a changed name and changed settings, and ends if the name is too long")
    func aControllerTellsWhatItHeard() throws {
        var seat = ControllerSession(name: "Desk")
        _ = seat.handle(.connected, now: at(0))
        var identity = lamp
        _ = seat.handle(.received(plugFrame { $0.welcome = WireWelcome(identity, now: at(0)) }), now: at(0))
        identity.name = "Lounge (2)"
        identity.givenName = "Lounge"
        identity.settings = RemoteSettings(powerOn: .last, powerLimit: 12)
        let told = seat.handle(
            .received(plugFrame { $0.descriptionChanged = WireDescriptionChanged(identity) }), now: at(1))
        #expect(told == [.deliver(.described(name: "Lounge (2)", given: "Lounge", identity.settings))])
        let long = String(repeating: "x", count: 64)
        let ended = seat.handle(.received(plugFrame { $0.descriptionChanged.name = long }), now: at(2))
        #expect(ended.contains { if case .close = $0 { true } else { false } })
    }
}
