import PlugClient
import PlugModel
import Presentation
import Testing

/// The exact lines of `plugctl watch --json`, which scripts parse.
@Suite struct WatchRecordTests {
    private func lines(_ update: PlugUpdate, previous: PlugState? = nil) -> [String] {
        WatchRecord.records(of: report(update), previous: previous).map { jsonLine($0) }
    }

    private let when = #""at":"2026-11-21T09:01:23.456Z""#

    @Test("The lines of a connection and its end") func aConnectionAndItsEnd() {
        #expect(
            lines(.connected(description)) == [
                #"{"at":"2026-11-21T09:01:23.456Z","event":"connected","firmware":"1.2.3","id":"0123456789ab","plug":"Lamp"}"#
            ])
        #expect(
            lines(.disconnected(reason: .away("connection lost"), retryIn: .seconds(1))) == [
                #"{\#(when),"event":"disconnected","plug":"Lamp","reason":"connection lost"}"#
            ])
    }

    @Test("The line of a snapshot") func aSnapshot() {
        #expect(
            lines(.snapshot(state(level: 40))) == [
                #"{"activeEnergy":12.345,"activePower":60.4,"at":"2026-11-21T09:01:23.456Z","currentRMS":0.263,"#
                    + #""event":"snapshot","level":40,"on":true,"plug":"Lamp","voltageRMS":230.1}"#
            ])
        #expect(
            lines(.snapshot(state(on: false, watts: nil))) == [
                #"{\#(when),"event":"snapshot","on":false,"plug":"Lamp"}"#
            ])
    }

    @Test("The fields of alternating current and of a tripped protection")
    func whatOnlyAlternatingCurrentHasAndWhatTripped() {
        #expect(
            lines(.snapshot(state(on: false, alternating: alternating, tripped: .overCurrent))) == [
                #"{"activeEnergy":12.345,"activePower":60.4,"apparentPower":60.5,\#(when),"currentRMS":0.263,"#
                    + #""event":"snapshot","frequency":49.987,"on":false,"plug":"Lamp","powerFactor":0.998,"#
                    + #""reactivePower":-3.5,"tripped":"overCurrent","voltageRMS":230.1}"#
            ])
        var still = alternating
        still.millihertz = nil
        #expect(
            lines(.state(state(alternating: still)), previous: state()) == [
                #"{"activeEnergy":12.345,"activePower":60.4,"apparentPower":60.5,\#(when),"currentRMS":0.263,"#
                    + #""event":"reading","plug":"Lamp","powerFactor":0.998,"reactivePower":-3.5,"voltageRMS":230.1}"#
            ])
        // The event of the protection has its own line.
        #expect(lines(.state(state(tripped: .overPower)), previous: state()) == [])
    }

    @Test("A new state becomes one line per change") func aStateBecomesWhatChangedInIt() {
        let reading =
            #"{"activeEnergy":12.345,"activePower":60.4,\#(when),"currentRMS":0.263,"event":"reading","#
            + #""plug":"Lamp","voltageRMS":230.1}"#
        #expect(lines(.state(state()), previous: state(watts: 50, time: 4)) == [reading])
        #expect(lines(.state(state()), previous: nil) == [reading])
        let level = #"{\#(when),"event":"level","level":12.5,"plug":"Lamp"}"#
        #expect(lines(.state(state(level: 12.5)), previous: state(level: 40)) == [level])
        #expect(lines(.state(state(level: 12.5)), previous: state(level: 40, watts: 3, time: 4)) == [level, reading])
        // The event of the relay has its own line.
        #expect(lines(.state(state(on: false)), previous: state()) == [])
    }

    @Test(
        "The line of a relay event",
        arguments: [
            (PlugEvent.Kind.relayChanged(on: true, cause: .button), #""cause":"button","event":"relay","on":true"#),
            (.relayChanged(on: false, cause: .protection), #""cause":"protection","event":"relay","on":false"#),
            (.relayChanged(on: false, cause: .timer), #""cause":"timer","event":"relay","on":false"#),
            (.relayChanged(on: true, cause: .powerOn), #""cause":"powerOn","event":"relay","on":true"#),
            (
                .relayChanged(on: true, cause: .controller(name: "Küche", request: request)),
                #""cause":"controller","controller":"Küche","event":"relay","on":true"#
            ),
        ])
    func aRelay(kind: PlugEvent.Kind, fields: String) {
        #expect(
            lines(.event(event(kind), age: .milliseconds(1234))) == [
                #"{"age":1.234,\#(when),\#(fields),"plug":"Lamp","seq":12}"#
            ])
    }

    @Test("The line of a press", arguments: ButtonPress.allCases)
    func aPress(press: ButtonPress) {
        #expect(
            lines(.event(event(.buttonPressed(press)), age: .zero)) == [
                #"{"age":0,\#(when),"event":"button","plug":"Lamp","press":"\#(press.rawValue)","seq":12}"#
            ])
    }

    @Test("The lines of a protection that trips and is reset", arguments: Protection.allCases)
    func aProtectionThatTripsAndIsReset(protection: Protection) {
        #expect(
            lines(.event(event(.protectionTripped(protection)), age: .zero)) == [
                #"{"age":0,\#(when),"event":"protection","plug":"Lamp","protection":"\#(protection.rawValue)","seq":12}"#
            ])
        #expect(
            lines(.event(event(.protectionReset(protection, cause: .button)), age: .zero)) == [
                #"{"age":0,\#(when),"cause":"button","event":"protectionReset","plug":"Lamp","#
                    + #""protection":"\#(protection.rawValue)","seq":12}"#
            ])
        let desk = RelayCause.controller(name: "Desk", request: request)
        #expect(
            lines(.event(event(.protectionReset(protection, cause: desk)), age: nil)) == [
                #"{\#(when),"cause":"controller","controller":"Desk","event":"protectionReset","plug":"Lamp","#
                    + #""protection":"\#(protection.rawValue)","seq":12}"#
            ])
    }

    /// The names are part of the interface for scripts.
    @Test("The names of protections do not change") func theNamesOfTheProtectionsStand() {
        #expect(
            Protection.allCases.map(\.rawValue) == [
                "overPower", "overCurrent", "overVoltage", "underVoltage", "overTemperature", "weldedRelay", "restTime",
                "switchingRate",
            ])
        #expect(Set(Protection.allCases.map(\.words)).count == Protection.allCases.count)
    }

    @Test("The lines of a protection, of a restart and of an event of unknown age")
    func protectionRestartAndAnAgeThatNobodyKnows() {
        #expect(
            lines(.event(event(.protectionTripped(.overPower)), age: .microseconds(1499))) == [
                #"{"age":0.001,\#(when),"event":"protection","plug":"Lamp","protection":"overPower","seq":12}"#
            ])
        #expect(
            lines(.event(event(.restarted(powerLost: true)), age: nil)) == [
                #"{\#(when),"event":"restarted","plug":"Lamp","powerLost":true,"seq":12}"#
            ])
    }

    @Test("The lines of pairing") func whoIsPairedAndWhoTried() {
        #expect(
            lines(.event(event(.pairingFailed(failures: 3)), age: .zero)) == [
                #"{"age":0,\#(when),"event":"pairingFailed","failures":3,"plug":"Lamp","seq":12}"#
            ])
        #expect(
            lines(.event(event(.controllerPaired(name: "Desk")), age: .zero)) == [
                #"{"age":0,\#(when),"controller":"Desk","event":"controllerPaired","plug":"Lamp","seq":12}"#
            ])
        #expect(
            lines(.event(event(.controllerRemoved(name: "Desk")), age: .zero)) == [
                #"{"age":0,\#(when),"controller":"Desk","event":"controllerRemoved","plug":"Lamp","seq":12}"#
            ])
    }

    @Test("The line of a gap", arguments: Gap.Reason.allCases)
    func aGap(reason: Gap.Reason) {
        #expect(
            lines(.gap(Gap(from: 3, to: 9, reason: reason))) == [
                #"{\#(when),"event":"gap","from":3,"plug":"Lamp","reason":"\#(reason.rawValue)","to":9}"#
            ])
    }

    @Test("An update that only changes the cursor has no line") func whatOnlyACursorNeedsIsNoLine() {
        #expect(lines(.following(after: 4)) == [])
    }

    @Test("A name with control characters stays in one line") func aNameStaysOneLine() {
        let record = WatchRecord.records(
            of: report(.snapshot(state(on: false, watts: nil)), of: "a\n\"b\"/\u{1B}"), previous: nil)[0]
        #expect(jsonLine(record) == #"{\#(when),"event":"snapshot","on":false,"plug":"a\n\"b\"/\u001b"}"#)
    }

    @Test(
        "The text of an update",
        arguments: [
            (PlugUpdate.snapshot(state(level: 40)), "on, level 40 %, 60.4 W"),
            (.state(state(watts: 40)), "40 W"),
            (
                .event(event(.relayChanged(on: true, cause: .controller(name: "Desk", request: request))), age: nil),
                "on (by Desk)"
            ),
            (.event(event(.relayChanged(on: false, cause: .powerOn)), age: nil), "off (power-on)"),
            (.event(event(.buttonPressed(.long)), age: nil), "button pressed (long)"),
            (.event(event(.restarted(powerLost: true)), age: nil), "restarted after a power failure"),
            (
                .event(event(.protectionTripped(.overPower)), age: nil),
                "protection tripped (overPower): the load drew too much power"
            ),
            (
                .event(event(.protectionReset(.overVoltage, cause: .button)), age: nil),
                "protection reset (button), was tripped (overVoltage): the voltage is too high"
            ),
            (
                .event(
                    event(
                        .protectionReset(.restTime, cause: .controller(name: "Desk", request: request))), age: nil),
                "protection reset (by Desk), was tripped (restTime): the load has not rested long "
                    + "enough since it was turned off"
            ),
            (
                .snapshot(state(on: false, watts: nil, tripped: .overTemperature)),
                "off, protection tripped (overTemperature): the plug is too hot inside"
            ),
            (.event(event(.pairingFailed(failures: 3)), age: nil), "wrong setup code (3 in a row)"),
            (.event(event(.controllerPaired(name: "Desk")), age: nil), "paired with Desk"),
            (.event(event(.controllerRemoved(name: "Desk")), age: nil), "no longer paired with Desk"),
            (.gap(Gap(from: 3, to: 9, reason: .powerLost)), "events 3 to 9 are lost (powerLost)"),
            (.connected(description), "connected (firmware 1.2.3)"),
            (.disconnected(reason: .away("why"), retryIn: .zero), "disconnected: why"),
        ])
    func words(update: PlugUpdate, words: String) {
        #expect(WatchRecord.records(of: report(update), previous: nil).map(\.words) == [words])
    }
}
