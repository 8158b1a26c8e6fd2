import NIOCore
import TestSupport
import Testing

@testable import Dashboard

@Suite struct DoorChecksTests {
    private let hosts = HostCheck(names: ["Kitchen.example.org.", "plugs", "plugs.local", "192.0.2.7"])

    @Test(
        "Known names and addresses are accepted as host",
        arguments: [
            "localhost", "LOCALHOST:7580", "localhost.", "127.0.0.1:7580", "[::1]:7580", "[::1]", "192.168.1.4",
            "plugs", "kitchen.example.org:443", "plugs.local:80",
        ])
    func ourNamesAndAddressesAreOurs(_ host: String) { #expect(hosts.refusal(of: host) == nil) }

    @Test(
        "A foreign host name that resolves to this machine is refused",
        arguments: [
            "evil.example", "evil.example:7580", "127.0.0.1.evil.example", "localhost.evil.example", "kitchen",
            "kitchen.local", "0x7f.1",
            "2130706433", "127.1", "notlocalhost", "local",
        ])
    func aNameThatSomebodyLedToUsIsRefused(_ host: String) {
        let refused = hosts.refusal(of: host)
        #expect(refused?.status == 403)
        #expect(refused?.fault.hint?.contains("--host-name") == true)
    }

    /// Attack class: a neighbour announces this machine's own name by mDNS with the loopback address, and so directs a
    /// victim's browser to the dashboard.
    @Test("A dashboard that listens on a loopback address accepts only localhost and configured names as host")
    func onLoopbackTheMachinesOwnNamesAreNobodys() {
        var settings = DashboardSettings()
        settings.place = DashboardSettings.Place("127.0.0.1:7580")
        settings.hostNames = ["plugs.example.org"]
        let own = settings.certificateNames.filter { !["localhost", "127.0.0.1", "plugs.example.org"].contains($0) }
        let check = HostCheck(names: settings.acceptedNames)
        for name in own { #expect(check.refusal(of: name)?.status == 403, "\(name)") }
        for name in ["localhost:7580", "127.0.0.1:7580", "plugs.example.org"] {
            #expect(check.refusal(of: name) == nil)
        }
        settings.place = DashboardSettings.Place("0.0.0.0:7580")
        let open = HostCheck(names: settings.acceptedNames)
        for name in own { #expect(open.refusal(of: name) == nil, "\(name)") }
    }

    @Test(
        "A missing or invalid Host field is refused as malformed",
        arguments: [
            nil, "", ":80", "a b", "localhost:", "localhost:99999", "localhost:80a", "localhost:80:80", "::1", "[::1",
            "[localhost]", "user@localhost", "localhost/", "lo\u{0}calhost", String(repeating: "a", count: 300),
        ])
    func whatIsNoHostIsMalformed(_ host: String?) { #expect(hosts.refusal(of: host)?.status == 400) }

    @Test("Only the dashboard's own page may send changes")
    func onlyOurOwnPageMayChangeSomething() {
        let plain = OriginCheck(isSecure: false)
        func refuses(_ check: OriginCheck, _ origins: [String], _ sites: [String] = []) -> Bool {
            check.refusal(origins: origins, sites: sites, host: "plugs:7580")?.status == 403
        }
        #expect(!refuses(plain, []))
        #expect(!refuses(plain, ["http://plugs:7580"], ["same-origin"]))
        #expect(!refuses(plain, ["HTTP://PLUGS:7580"], ["none"]))
        #expect(refuses(plain, ["http://plugs"]))
        #expect(refuses(plain, ["http://plugs:7581"]))
        #expect(refuses(plain, ["http://evil.example"]))
        #expect(refuses(plain, ["http://plugs:7580.evil.example"]))
        #expect(refuses(plain, ["null"]))
        #expect(refuses(plain, [""]))
        #expect(refuses(plain, ["http://plugs:7580", "http://evil.example"]))
        #expect(refuses(plain, ["http://plugs:7580"], ["cross-site"]))
        #expect(refuses(plain, [], ["same-site"]))
        let secure = OriginCheck(isSecure: true)
        #expect(!refuses(secure, ["https://plugs:7580"]))
        #expect(refuses(secure, ["http://plugs:7580"]))
        #expect(secure.refusal(origins: ["https://plugs"], sites: [], host: "plugs:443") == nil)
    }

    @Test("A page at the configured proxy address may send changes, with any Host field; foreign pages may not")
    func externalAddress() throws {
        let proxy = try #require(ExternalAddress("https://Plugs.example.org:8443/"))
        #expect(proxy.description == "https://plugs.example.org:8443")
        let check = OriginCheck(isSecure: false, external: [proxy])
        func refuses(_ origins: [String], _ host: String, _ sites: [String] = ["same-origin"]) -> Bool {
            check.refusal(origins: origins, sites: sites, host: host)?.status == 403
        }
        for host in ["plugs.example.org", "127.0.0.1:7580", "plugs.example.org:8443"] {
            #expect(!refuses(["https://plugs.example.org:8443"], host))
            #expect(refuses(["https://plugs.example.org:8443"], host, ["cross-site"]))
            for evil in [
                "https://evil.example:8443", "http://plugs.example.org:8445", "https://plugs.example.org:8444", "null",
                "",
                "https://plugs.example.org:8443/x", "https://plugs.example.org:8443/",
                "https://plugs.example.org:8443.evil.example",
            ] { #expect(refuses([evil], host), "\(evil) \(host)") }
        }
        #expect(!refuses(["http://127.0.0.1:7580"], "127.0.0.1:7580"))
        #expect(check.isSecureOutside(origins: ["https://plugs.example.org:8443"]))
        #expect(!check.isSecureOutside(origins: ["http://127.0.0.1:7580"]))
        for bad in ["plugs.example.org", "ftp://plugs", "https://", "https://plugs/house", "https://user@plugs"] {
            #expect(ExternalAddress(bad) == nil, "\(bad)")
        }
        #expect(ExternalAddress("http://[::1]")?.description == "http://[::1]")
    }

    @Test("A page at an unknown address is refused, and the hint names the option for this address")
    func unknownProxy() {
        let refused = OriginCheck(isSecure: false).refusal(
            origins: ["https://plugs.example.org:8443"], sites: ["same-origin"], host: "plugs.example.org")
        #expect(refused?.fault.hint?.contains("plugctl daemon --external-url https://plugs.example.org:8443") == true)
    }

    @Test("A configured proxy address is accepted as host and requires a password")
    func proxiedDoor() throws {
        var settings = DashboardSettings()
        let directory = TestFolder()
        settings.password = PasswordFile(directory.path + "/password")
        try settings.check()
        #expect(settings.isForThisMachine)
        settings.external = [try #require(ExternalAddress("https://plugs.example.org"))]
        #expect(HostCheck(names: settings.acceptedNames).refusal(of: "plugs.example.org") == nil)
        #expect(!settings.isForThisMachine && !settings.isSecure)
        let fault = #expect(throws: DashboardFault.self) { try settings.check() }
        #expect(
            fault?.description.contains(
                "https://plugs.example.org is reachable from other machines, but no password is set") == true)
    }

    @Test("A body is accepted only with a JSON content type")
    func aBodyIsJSONOrNothing() {
        for good in [
            "application/json", "Application/JSON; charset=UTF-8", "application/json;charset=utf-8",
            "application/json ",
        ] {
            #expect(ContentTypeCheck.isJSON([good]), "\(good)")
        }
        let bad = [
            "", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json, text/plain",
        ]
        for bad in bad { #expect(!ContentTypeCheck.isJSON([bad]), "\(bad)") }
        #expect(!ContentTypeCheck.isJSON([]))
        #expect(!ContentTypeCheck.isJSON(["application/json", "text/plain"]))
    }

    @Test("A listening place is an IP address with a port")
    func placesAreAddressesWithPorts() {
        #expect(DashboardSettings.Place("127.0.0.1:7580") == .init(host: "127.0.0.1", port: 7580))
        #expect(DashboardSettings.Place("[::1]:0")?.description == "[::1]:0")
        #expect(DashboardSettings.Place("[::1]:0")?.isLoopback == true)
        #expect(DashboardSettings.Place("0.0.0.0:80")?.isLoopback == false)
        #expect(DashboardSettings.Place("127.example.org:80")?.isLoopback == false)
        for bad in ["7580", "localhost", "127.0.0.1:x", "::1:80", ":80"] {
            #expect(DashboardSettings.Place(bad) == nil, "\(bad)")
        }
    }

    @Test("Clients in one IPv6 /64 network count as one network")
    func guestsOfOneNetworkCountTogether() throws {
        func network(_ text: String) throws -> String? { try SocketAddress(ipAddress: text, port: 1).networkOfGuest }
        #expect(try network("192.0.2.1") == "192.0.2.1")
        #expect(try network("2001:db8:1:2:3:4:5:6") == network("2001:db8:1:2:ffff::1"))
        #expect(try network("2001:db8:1:2::1") != network("2001:db8:1:3::1"))
        #expect(try SocketAddress(ipAddress: "127.8.0.1", port: 1).isLoopback)
        #expect(try SocketAddress(ipAddress: "::1", port: 1).isLoopback)
        #expect(try SocketAddress(ipAddress: "192.0.2.1", port: 1).isLoopback == false)
    }

    @Test("Any header text is accepted or refused without a crash")
    func anyTextIsJudged() {
        var random = Fuzzing.random(0xD00)
        let alphabet = Array("abc.:[]/;= \"1280xf%-@,\u{0}\u{7f}é".unicodeScalars)
        for _ in FuzzRounds(20_000) {
            var text = ""
            for _ in 0..<Int.random(in: 0...24, using: &random) {
                text.unicodeScalars.append(alphabet.randomElement(using: &random) ?? "a")
            }
            _ = hosts.refusal(of: text)
            _ = OriginCheck(isSecure: false).refusal(origins: [text], sites: [], host: text)
            _ = ContentTypeCheck.isJSON([text])
            #expect(BasicAuthorization.password(in: [text]) == nil)
            _ = DeviceDescription.of(text)
            if let password = DashboardPassword(line: Array("$h\tviewer\t-\t\(text)".utf8)) {
                #expect(DashboardPassword(line: Array(password.line.utf8)) == password)
            }
            var sessions = Sessions()
            _ = sessions.begin("id", device: text, address: text, now: 0)
            #expect(SessionCookie.values(in: ["smartplug=" + text]).allSatisfy { sessions.session(of: $0) == nil })
        }
    }
}
