import Doctor
import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

/// Findings about services, plugs and the clock.
@Suite struct PlugTests {
    private func services(_ services: Observations.Service...) -> [Finding] {
        var seen = healthy()
        seen.services = services
        return Diagnosis.findings(seen).filter { $0.subject == .service }
    }

    private func plugs(_ plugs: Observations.Plug..., keptAway: [PlugID: String] = [:]) -> [Finding] {
        var seen = healthy()
        seen.plugs = plugs
        seen.keptAway = keptAway
        return Diagnosis.findings(seen).filter { [.plug, .controller].contains($0.subject) }
    }

    @Test("A network without plugs is a warning if the host has a network to listen on") func nobodyAnswers() {
        #expect(services().map(\.level) == [.warning])
        #expect(services()[0].what == "no host answers for _smartplug._tcp")
        // Without a network to listen on, missing plugs are not reported.
        var seen = healthy()
        (seen.links, seen.services) = ([], [])
        #expect(!Diagnosis.findings(seen).contains { $0.subject == .service || $0.subject == .port })
    }

    @Test("A plug that is not paired is ok") func aPlugThatIsNotPairedIsNoFault() {
        let finding = services(service(isPaired: false))[0]
        #expect(finding.level == .ok)
        #expect(finding.next == "if it is yours: plugctl pair \"Lamp\", with the code on its label")
    }

    @Test("A plug whose address cannot be resolved is a problem") func aPlugThatDoesNotSayWhereItIs() {
        var silent = service()
        silent.place = nil
        #expect(services(silent).map(\.level) == [.problem])
        #expect(services(silent)[0].what == "it is announced but does not answer with its address")
    }

    @Test("A plug without an announced id is a warning") func aPlugThatDoesNotSayWhichItIs() {
        #expect(services(service(id: nil)).map(\.level) == [.warning])
    }

    @Test("Two plugs with one id are problems") func twoPlugsWithOneId() {
        let findings = services(service("Lamp"), service("Fan"))
        #expect(findings.map(\.level) == [.problem, .problem])
        #expect(findings.map(\.about) == ["Fan", "Lamp"])
        #expect(findings[0].what.hasSuffix("; Lamp has the same id, 0123456789ab"))
    }

    @Test("A plug with a different protocol version is a warning") func aPlugOfAnotherVersion() {
        var newer = service()
        newer.version = "2"
        #expect(services(newer).map(\.level) == [.warning])
        #expect(services(newer)[0].what.hasSuffix("it uses version 2 of the protocol"))
    }

    @Test("A controller without paired plugs has a hint how to pair") func noPlugIsPaired() {
        #expect(
            plugs() == [
                Finding(
                    .ok, .controller, "no plug is paired yet",
                    next: "plugctl pair NAME, with the code on the plug's label")
            ])
    }

    @Test(
        "Each failure of a paired plug is a problem with a next step",
        arguments: [
            (
                plug(.absent, announcedAs: nil), "it is paired but not announced (its id is 0123456789ab)",
                "check its power and its network, and run `plugd check` and `plugd status` on it; if it no longer exists: "
                    + "plugctl unpair \"Lamp\" --here-only"
            ),
            (
                plug(.connected(roundTrip: .milliseconds(3), tripped: .overPower)),
                "its protection tripped (overPower); it stays off until the protection is reset",
                "remove the cause, then press its button or run `plugctl reset \"Lamp\" --protection`"
            ),
            (
                plug(.connected(roundTrip: nil)), "it accepted the connection and closed it before it answered",
                "run this again; if the problem persists, check the plug's log"
            ),
            (
                plug(.silent), "no connection within 3 s",
                "check for a firewall in between, or wait longer with --wait 10s"
            ),
            (
                plug(.away("cannot connect to 192.0.2.7 port 1: Connection refused")),
                "cannot connect to 192.0.2.7 port 1: Connection refused",
                "check whether it is restarting or a firewall is in between; then run this again"
            ),
            (plug(.incompatible("it speaks version 2")), "it speaks version 2", "update the older of the two"),
            (
                plug(.distrusted("its key differs\nhint: pair it again")), "its key differs", "pair it again"
            ),
        ] as [(Observations.Plug, String, String)])
    func outcomes(plug: Observations.Plug, what: String, next: String) {
        let findings = plugs(plug)
        #expect(findings.map(\.level) == [.problem])
        #expect(findings[0].about == "Lamp" && findings[0].what == what && findings[0].next == next)
    }

    @Test("The exclusion of a plug by the daemon is reported as a problem of the plug")
    func whatTheDaemonKeepsAwayFromIsAProblemOfThePlug() throws {
        let lamp = plug(.connected(roundTrip: .milliseconds(3)))
        let words =
            "disabled for 59 minutes because it crashed the daemon\nhint: plugctl daemon quarantine --lift \(lamp.id)"
        let findings = plugs(lamp, keptAway: [lamp.id: words])
        #expect(findings.map(\.level) == [.ok, .problem])
        let found = try #require(findings.last)
        #expect(found.about == "Lamp" && found.what == "disabled for 59 minutes because it crashed the daemon")
        #expect(found.next == "plugctl daemon quarantine --lift \(lamp.id)")
    }

    @Test(
        "A crash of the firmware is a warning in this boot and ok in an earlier one",
        arguments: [
            (
                PlugCrash(
                    report: "crash 3 of this boot\nsignal SIGSEGV at address 0x10\nplugd+0x1f\n", count: 3, at: .zero),
                Finding.Level.warning,
                "its firmware crashed 1 s ago, 3 times since it booted: signal SIGSEGV at address 0x10",
                "crash 3 of this boot; signal SIGSEGV at address 0x10; plugd+0x1f"
            ),
            (
                PlugCrash(report: "firmware 0.1.0\nkilled: somebody", count: 1, at: nil), .warning,
                "its firmware crashed, once since it booted: killed: somebody",
                "firmware 0.1.0; killed: somebody"
            ),
            (
                PlugCrash(report: "signal SIGILL", count: 0, at: nil), .ok,
                "its firmware crashed in an earlier boot: signal SIGILL", "signal SIGILL"
            ),
        ] as [(PlugCrash, Finding.Level, String, String)])
    func crashes(crash: PlugCrash, level: Finding.Level, what: String, why: String) throws {
        var lamp = plug(.connected(roundTrip: .milliseconds(3)))
        lamp.crash = crash
        let findings = plugs(lamp)
        #expect(findings.map(\.level) == [.ok, level] && findings.map(\.about) == ["Lamp", "Lamp"])
        #expect(findings[1].what == what && findings[1].why == why)
    }

    @Test("A registration is ok, and a failed one is a problem with the plug's hint") func registration() {
        func findings(_ registration: DomainRegistration?) -> [Finding] {
            var lamp = plug(.connected(roundTrip: .milliseconds(3)))
            lamp.registration = registration
            return Array(plugs(lamp).dropFirst())
        }
        #expect(findings(nil).isEmpty)
        #expect(
            findings(.registered(name: "Lamp (2)", domain: "example.org")) == [
                Finding(.ok, .plug, "Lamp", "it is registered as \"Lamp (2)\" in example.org")
            ])
        #expect(
            findings(.failed(domain: "example.org", reason: "the clocks differ", hint: "set them")) == [
                Finding(
                    .problem, .plug, "Lamp", "it is not registered in example.org: the clocks differ", next: "set them")
            ])
    }

    @Test("Reachability from the internet is ok; a second router and a failed mapping are warnings with hints")
    func reachability() {
        let mapped = Reachability.mapped(address: "198.51.100.7", port: 4711, isPublic: true)
        let failed = Reachability.unmapped(reason: "the router does not answer", hint: "turn on PCP")
        func findings(_ results: Reachability...) -> [Finding] {
            var lamp = plug(.connected(roundTrip: .milliseconds(3)))
            lamp.reachability = results
            return Array(plugs(lamp).dropFirst())
        }
        #expect(findings().isEmpty)
        #expect(findings(mapped).map(\.level) == [.ok])
        #expect(findings(mapped)[0].what == "it is reachable from the internet at 198.51.100.7 port 4711")
        let behind = findings(.mapped(address: "192.168.7.2", port: 4711, isPublic: false))
        #expect(behind.map(\.level) == [.warning])
        #expect(behind[0].what.hasSuffix("its router has the private address 192.168.7.2"))
        #expect(behind[0].next == "use one of the routers as a bridge, or a VPN")
        #expect(
            findings(failed) == [
                Finding(
                    .warning, .plug, "Lamp", "its port is not mapped: the router does not answer", next: "turn on PCP")
            ])
        #expect(findings(mapped, failed) == findings(mapped), "one family is enough")
    }

    @Test("A renamed plug is reported with both names") func aPlugThatWasRenamed() {
        let finding = plugs(plug(.connected(roundTrip: .milliseconds(20)), announcedAs: "Desk Lamp"))[0]
        #expect(finding.level == .ok && finding.about == "Desk Lamp")
        #expect(finding.what.hasSuffix("it answers in 20.0 ms; it was paired as Lamp"))
    }

    @Test("A damaged list of plugs is a problem of the controller") func aFileOfPlugsThatIsDamaged() {
        var seen = healthy()
        seen.controllerFault = "plugs line 3 is damaged\nhint: mend or remove that line"
        seen.plugs = []
        let findings = Diagnosis.findings(seen).filter { $0.subject == .controller }
        #expect(
            findings == [
                Finding(.problem, .controller, "plugs line 3 is damaged", next: "mend or remove that line")
            ])
    }

    @Test(
        "A clock that is wrong, was set or is not synchronized is reported",
        arguments: [
            (0, 0, true as Bool?, Finding.Level.ok, "and is synchronized"),
            (0, 0, nil, .ok, "456Z"), (0, 0, false, .warning, "and is not synchronized"),
            (-3_600, 0, true, .warning, "and was set back by 3600 s just now"),
            (2, 0, true, .warning, "and was set forward by 2 s just now"),
            (0, -1_795_251_683, true, .problem, "it shows 1970-01-01T00:00:00.456Z"),
        ] as [(Int64, Int64, Bool?, Finding.Level, String)])
    func clock(step: Int64, offset: Int64, isSynchronized: Bool?, level: Finding.Level, end: String) {
        var seen = healthy()
        for state in [\Observations.Clock.first, \.last] {
            seen.clock[keyPath: state].wall.nanosecondsSince1970 += offset * 1_000_000_000
            seen.clock[keyPath: state].isSynchronized = isSynchronized
        }
        seen.clock.last.wall.nanosecondsSince1970 += step * 1_000_000_000
        let findings = Diagnosis.findings(seen).filter { $0.subject == .clock }
        #expect(findings.map(\.level) == [level])
        #expect(findings[0].what.hasSuffix(end), "\(findings[0].what)")
    }
}
