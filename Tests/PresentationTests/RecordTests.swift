import DNSWire
import Daemon
import Foundation
import PlugModel
import Presentation
import ProtocolCore
import ServiceDiscovery
import Testing

/// The exact lines of `--json` for browsing, resolving, plugs, networks and commands.
@Suite struct RecordTests {
    /// A terminal interprets U+009B like ESC and "[", as the beginning of a command.
    @Test("JSON lines contain no control characters for a terminal")
    func noCharacterOfJSONIsACommandToATerminal() throws {
        let text = "a\u{1B}\u{7F}\u{85}\u{9B}2J\u{2028}b"
        let line = jsonLine([text])
        #expect(line == #"["a\u001b\u007f\u0085\u009b2J\u2028b"]"#)
        #expect(try JSONDecoder().decode([String].self, from: Data(line.utf8)) == [text])
    }

    private func identity(_ interface: UInt32?) -> ServiceIdentity {
        ServiceIdentity(name: "Living Room Lamp", type: "_smartplug._tcp", interface: interface)
    }

    private func name(_ interface: UInt32) -> String? { interface == 2 ? "wlan0" : nil }

    @Test("The lines of browsing") func browse() throws {
        let txt = try TXTRecord(["txtvers": "1", "id": "0123456789ab", "caps": "meter,relay"])
        let found = BrowseRecord(.found(identity(2), txt: txt), interfaceName: name)
        #expect(
            jsonLine(found)
                == #"{"domain":"local","event":"found","interface":"wlan0","name":"Living Room Lamp","#
                + #""txt":{"caps":"meter,relay","id":"0123456789ab","txtvers":"1"},"type":"_smartplug._tcp"}"#)
        #expect(found.text == "+ Living Room Lamp  (wlan0)  caps=meter,relay id=0123456789ab txtvers=1")
        let changed = BrowseRecord(.changed(identity(7), txt: TXTRecord()), interfaceName: name)
        #expect(
            jsonLine(changed)
                == #"{"domain":"local","event":"changed","interface":"7","name":"Living Room Lamp","txt":{},"#
                + #""type":"_smartplug._tcp"}"#)
        let lost = BrowseRecord(.lost(identity(nil)), interfaceName: name)
        #expect(
            jsonLine(lost)
                == #"{"domain":"local","event":"lost","interface":"","name":"Living Room Lamp","txt":{},"#
                + #""type":"_smartplug._tcp"}"#)
    }

    private var service: ResolvedService {
        ResolvedService(
            identity: identity(nil), hostName: "plug-6789ab.local", port: 40_123,
            addresses: [
                .init(address: .v4(IPv4Address(192, 0, 2, 7)), interface: 2),
                .init(address: .v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: 1)), interface: 2),
                .init(address: .v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: 2)), interface: 7),
                .init(address: .v6(IPv6Address(high: 0x2001_0DB8_0000_0000, low: 1)), interface: 2),
            ])
    }

    @Test("The record of a resolved service") func resolve() {
        let record = ResolveRecord(service, interfaceName: name)
        #expect(
            jsonLine(record)
                == #"{"addresses":["192.0.2.7","fe80::1%wlan0","fe80::2%7","2001:db8::1"],"host":"plug-6789ab.local","#
                + #""name":"Living Room Lamp","port":40123}"#)
        #expect(
            record.text
                == "Living Room Lamp is at plug-6789ab.local port 40123: 192.0.2.7, fe80::1%wlan0, fe80::2%7, 2001:db8::1"
        )
    }

    @Test("The record of a plug") func info() {
        var record = InfoRecord(description, at: service, now: .zero)
        #expect(
            jsonLine(record)
                == #"{"addresses":["192.0.2.7","fe80::1","fe80::2","2001:db8::1"],"#
                + #""capabilities":["dimmer","meter","relay"],"domain":"local","firmware":"1.2.3","host":"plug-6789ab.local","#
                + #""id":"0123456789ab","plug":"Lamp","port":40123}"#)
        record.add(state(level: 40))
        #expect(
            jsonLine(record)
                == #"{"activeEnergy":12.345,"activePower":60.4,"#
                + #""addresses":["192.0.2.7","fe80::1","fe80::2","2001:db8::1"],"#
                + #""capabilities":["dimmer","meter","relay"],"currentRMS":0.263,"domain":"local","firmware":"1.2.3","#
                + #""host":"plug-6789ab.local","id":"0123456789ab","level":40,"on":true,"plug":"Lamp","port":40123,"#
                + #""voltageRMS":230.1}"#)
        #expect(
            record.lines == [
                "Lamp", "  id            0123456789ab", "  domain        local",
                "  host          plug-6789ab.local, port 40123",
                "  addresses     192.0.2.7, fe80::1, fe80::2, 2001:db8::1", "  firmware      1.2.3",
                "  capabilities  dimmer, meter, relay", "  relay         on", "  level         40 %",
                "  active power  60.4 W", "  voltage       230.1 V", "  current       0.263 A",
                "  active energy 12.345 Wh",
            ])
    }

    @Test("The record of a tripped plug on alternating current") func infoOfAPlugOnAlternatingCurrentThatTripped() {
        var record = InfoRecord(description, at: service, now: .zero)
        record.add(state(on: false, alternating: alternating, tripped: .overPower))
        #expect(
            jsonLine(record)
                == #"{"activeEnergy":12.345,"activePower":60.4,"#
                + #""addresses":["192.0.2.7","fe80::1","fe80::2","2001:db8::1"],"apparentPower":60.5,"#
                + #""capabilities":["dimmer","meter","relay"],"currentRMS":0.263,"domain":"local","firmware":"1.2.3","frequency":49.987,"#
                + #""host":"plug-6789ab.local","id":"0123456789ab","on":false,"plug":"Lamp","port":40123,"#
                + #""powerFactor":0.998,"reactivePower":-3.5,"tripped":"overPower","voltageRMS":230.1}"#)
        let lines: [String] = [
            "  relay         off",
            "  protection    tripped (overPower): the load drew too much power",
            "                `plugctl reset \"Lamp\" --protection` or its button resets it",
            "  active power  60.4 W", "  voltage       230.1 V", "  current       0.263 A",
            "  apparent      60.5 VA", "  reactive      -3.5 var", "  power factor  0.998", "  frequency     49.987 Hz",
            "  active energy 12.345 Wh",
        ]
        #expect(Array(record.lines.suffix(11)) == lines)
    }

    @Test("The text of a reset of protection") func aResetOfWhatTripped() {
        let done = CommandRecord(plug: "Lamp", state: state(on: false), event: 12)
        #expect(done.resetText == "Lamp: protection reset; it is off")
        #expect(
            CommandRecord(plug: "Lamp", state: state(), event: nil).resetText == "Lamp: no protection was tripped")
        #expect(
            jsonLine(CommandRecord(plug: "Lamp", state: state(on: false, tripped: .weldedRelay), event: nil))
                == #"{"on":false,"plug":"Lamp","tripped":"weldedRelay"}"#)
    }

    @Test("Six kinds of refusals have a hint") func aRefusalSaysWhatToTryNext() {
        let hints = Refusal.Code.allCases.map { $0.hint(for: "Büro") }
        #expect(hints.compactMap(\.self).count == 6)
        #expect(
            Refusal.Code.protectionTripped.hint(for: "Büro")
                == "remove the cause, then press the plug's button or run `plugctl reset \"Büro\" --protection`")
    }

    @Test("The record of a plug's networks") func networksOfAPlug() {
        var plug = description
        let lease = PlugNetwork.Lease(
            address: "192.0.2.9", server: "192.0.2.1", router: "192.0.2.254", expires: .zero + .seconds(3600))
        plug.networks = [
            PlugNetwork(
                name: "eth0", isManaged: true, reason: "no other program manages the interface",
                hardwareAddress: "02:00:00:00:00:01", addresses: ["192.0.2.9", "169.254.7.8"],
                linkLocal: "169.254.7.8", lease: lease, conflicts: 2),
            PlugNetwork(
                name: "wlan0", isManaged: false, reason: "set by --addressing",
                hardwareAddress: "02:00:00:00:00:02", addresses: ["198.51.100.7"]),
        ]
        let record = InfoRecord(plug, at: service, now: .zero + .seconds(600))
        let wired: [String] = [
            #"{"addresses":["192.0.2.9","169.254.7.8"],"conflicts":2,"hardwareAddress":"02:00:00:00:00:01","#,
            #""lease":{"address":"192.0.2.9","expiresIn":3000,"router":"192.0.2.254","server":"192.0.2.1"},"#,
            #""linkLocal":"169.254.7.8","name":"eth0","reason":"no other program manages the interface","role":"manage"}"#,
        ]
        let wireless: [String] = [
            #"{"addresses":["198.51.100.7"],"conflicts":0,"hardwareAddress":"02:00:00:00:00:02","name":"wlan0","#,
            #""reason":"set by --addressing","role":"observe"}"#,
        ]
        let networks: String = "\"networks\":[" + wired.joined() + "," + wireless.joined() + "]"
        #expect(jsonLine(record).contains(networks))
        let lines: [String] = [
            "  network       eth0 (02:00:00:00:00:01), addresses managed by the plug: no other program manages the interface",
            "    lease       192.0.2.9 from 192.0.2.1, for 3000 s, router 192.0.2.254",
            "    link-local  169.254.7.8", "    conflicts   2",
            "  network       wlan0 (02:00:00:00:00:02), addresses managed by another program: set by --addressing",
        ]
        #expect(Array(record.lines.suffix(5)) == lines)
    }

    @Test("The record of a plug that maps its port at its router") func reachability() {
        var plug = description
        plug.reachability = [
            .mapped(address: "198.51.100.7", port: 4711, isPublic: true),
            .mapped(address: "192.168.7.2", port: 4711, isPublic: false),
            .unmapped(reason: "the router does not answer", hint: "turn on PCP"),
        ]
        let record = InfoRecord(plug, at: service, now: .zero)
        let results: [String] = [
            #""reachability":[{"address":"198.51.100.7","port":4711,"public":true},"#,
            #"{"address":"192.168.7.2","port":4711,"public":false},"#,
            #"{"hint":"turn on PCP","public":false,"reason":"the router does not answer"}]"#,
        ]
        #expect(jsonLine(record).contains(results.joined()))
        let lines: [String] = [
            "  internet      reachable at 198.51.100.7 port 4711",
            "  internet      not reachable: the router has the private address 192.168.7.2, so a second router follows",
            "  internet      port not mapped: the router does not answer", "    hint        turn on PCP",
        ]
        #expect(Array(record.lines.suffix(4)) == lines)
    }

    @Test("The record of a plug with hosts at its sleep proxy") func sleepers() {
        var plug = state()
        plug.sleepers = [
            PlugSleeper(
                host: "nas.local", card: "02:00:00:00:00:10", addresses: ["192.0.2.7"], asleepSince: at(60),
                sleptSeconds: 18_725, sleeps: 3, wakes: [.leaseEnd: 1, .connection: 2], lastCause: .connection),
            PlugSleeper(host: "desk.local", card: "02:00:00:00:00:11", sleptSeconds: 59, sleeps: 1),
        ]
        // The plug's clock shows 100 s at this moment.
        let clock = PlugClock(.made(boot: boot, asked: at(7), plugTime: at(100)), at: moment)
        var record = InfoRecord(description, at: service, now: .zero)
        record.add(plug, clock: clock)
        let wired: [String] = [
            #""sleepers":[{"addresses":["192.0.2.7"],"asleepSince":"2026-11-21T09:00:43.456Z","card":"02:00:00:00:00:10","host":"nas.local","#,
            #""lastCause":"connection","sleeps":3,"sleptSeconds":18725,"state":"asleep","#,
            #""wakes":{"connection":2,"leaseEnd":1}},"#,
            #"{"addresses":[],"card":"02:00:00:00:00:11","host":"desk.local","sleeps":1,"sleptSeconds":59,"state":"awake","wakes":{}}]"#,
        ]
        #expect(jsonLine(record).contains(wired.joined()))
        let lines: [String] = [
            "  sleeper       nas.local (02:00:00:00:00:10), asleep since 2026-11-21T09:00:43.456Z",
            "    slept       5 h 12 min, without the current sleep", "    sleeps      3",
            "    woken       connection 2, end of the lease 1", "    last wake   connection",
            "  sleeper       desk.local (02:00:00:00:00:11), awake", "    slept       59 s", "    sleeps      1",
        ]
        #expect(Array(record.lines.suffix(8)) == lines)
    }

    @Test("The record of a command") func command() {
        let on = CommandRecord(plug: "Lamp", state: state(), event: 12)
        #expect(jsonLine(on) == #"{"on":true,"plug":"Lamp","seq":12}"#)
        #expect(on.text == "Lamp: on")
        let dimmed = CommandRecord(plug: "Lamp", state: state(level: 40), event: nil)
        #expect(jsonLine(dimmed) == #"{"level":40,"on":true,"plug":"Lamp"}"#)
        #expect(dimmed.text == "Lamp: on at 40 %")
        let off = CommandRecord(plug: "Lamp", state: state(on: false), event: nil)
        #expect(jsonLine(off) == #"{"on":false,"plug":"Lamp"}"#)
        #expect(off.text == "Lamp: off (unchanged)")
        #expect(
            jsonLine(CommandRecord(plug: "Lamp", error: "it is away")) == #"{"error":"it is away","plug":"Lamp"}"#)
    }
}
