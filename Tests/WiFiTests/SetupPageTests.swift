import AddressConfiguration
import PlugModel
import ProtocolCore
import Testing

@testable import WiFi

/// The setup page, its form, and the texts of wpa_supplicant.
@Suite struct SetupPageTests {
    private func page(_ found: [FoundNetwork] = [], _ failure: WiFiReport.Failure? = nil) -> SetupPage {
        SetupPage(plug: label.name, found: found, failure: failure, country: WiFiCountry(rawValue: "DE"), isTrying: nil)
    }

    private func form(_ text: String) throws(SetupForm.Mistake) -> SetupForm {
        try SetupForm(decoding: Array(text.utf8))
    }

    @Test("The page lists the networks, the strongest first and selected, without those that the plug cannot join")
    func list() throws {
        let found = FoundNetwork.list(
            """
            bssid / frequency / signal level / flags / ssid
            02:00:00:00:00:01\t2412\t-80\t[WPA2-PSK-CCMP][ESS]\tfar
            02:00:00:00:00:02\t2412\t-40\t[WPA2-PSK+SAE-CCMP][ESS]\thome
            02:00:00:00:00:03\t2412\t-60\t[WPA2-PSK-CCMP][ESS]\thome
            02:00:00:00:00:04\t2412\t-30\t[WPA2-EAP-CCMP][ESS]\tcampus
            02:00:00:00:00:05\t2412\t-50\t[ESS]\tcaf\\xc3\\xa9
            02:00:00:00:00:06\t2412\t-50\t[ESS]\t\\x00\\x00
            02:00:00:00:00:07\t2412\tnear\t[ESS]\tno number
            02:00:00:00:00:08\t2412\t-50\t[ESS]\tbad \\quote
            """)
        #expect(found.map(\.name.description) == ["campus", "home", "café", "far"])
        #expect(found.map(\.security) == [.unsupported, .password, .open, .password])
        #expect(found.map(\.accessPoints) == [1, 2, 1, 1])
        let html = page(found).html()
        #expect(!html.contains("campus"))
        let home = try #require(html.firstRange(of: "value=\(HexadecimalText.text(of: Array("home".utf8)))"))
        let far = try #require(html.firstRange(of: "value=\(HexadecimalText.text(of: Array("far".utf8)))"))
        #expect(home.lowerBound < far.lowerBound)
        #expect(html.contains("without a password") && html.contains("value=\"DE\""))
    }

    @Test("Names of networks cannot add elements to the page") func escaped() {
        let name = WiFiName("<script>\"'&\u{7}")!
        let html = page(
            [FoundNetwork(name, signal: -50, security: .password)], WiFiReport.Failure(name, .wrongPassword)
        ).html()
        #expect(!html.contains("<script") && html.contains("&lt;script&gt;&quot;&#39;&amp;\u{FFFD}"))
        #expect(page().html(mistake: "<b>").contains("&lt;b&gt;"))
    }

    @Test("Each reason of a failure has a sentence") func reasons() {
        for reason in WiFiReport.Reason.allCases {
            #expect(
                page([], WiFiReport.Failure(home.name, reason)).html().contains("role=alert>Cannot connect to home"))
        }
    }

    @Test("A form names a network of the list, or another one") func forms() throws {
        let listed = try form("network=686f6d65&name=&password=correct+horse&country=de")
        #expect(listed.network == home && listed.country == WiFiCountry(rawValue: "DE"))
        let other = try form("network=686f6d65&name=caf%C3%A9&password=")
        #expect(other.network == WiFiNetwork(WiFiName("café")!, password: nil) && other.country == nil)
        let fixed = try form("name=home&address=192.168.1.20%2F24&router=192.168.1.1&name_server=9.9.9.9").address
        #expect(fixed?.line == "192.168.1.20/24,192.168.1.1,9.9.9.9" && listed.address == nil)
        #expect(try form("name=a%26b&password=%22%3D%25+%2Babc").network.password?.secret == "\"=% +abc")
    }

    @Test(
        "A form with a mistake is refused with a sentence",
        arguments: [
            "", "network=&name=", "network=zz", "network=6", "name=\(String(repeating: "x", count: 33))",
            "name=home&password=short", "name=home&password=p%C3%A4ssword", "name=home&country=Germany", "name=%4",
            "name=home&password=\(String(repeating: "x", count: 3000))", "name=home&address=192.168.1.20",
            "name=home&address=192.168.1.255/24", "name=home&address=192.168.1.20/24&router=192.168.2.1",
            "name=home&address=192.168.1.20/24&name_server=0.0.0.0", "name=home&router=192.168.1.1",
        ])
    func mistakes(_ text: String) {
        #expect(throws: SetupForm.Mistake.self) { try form(text) }
    }

    @Test("The events and answers of wpa_supplicant are distinguished") func messages() {
        let texts: [(String, SupplicantMessage)] = [
            ("OK\n", .answer("OK\n")), ("<3>AP-ENABLED ", .event(.opened)), ("<3>AP-DISABLED ", .event(.closed)),
            (
                "<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=2 id_str=]",
                .event(.connected(accessPoint: "02:00:00:00:01:00", network: 2))
            ),
            (
                "<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid=\"home\" auth_failures=1 duration=10 reason=WRONG_KEY",
                .event(.wrongPassword)
            ),
            ("<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid=\"home\" reason=CONN_FAILED", .event(.other)),
            ("<3>CTRL-EVENT-CONNECTED", .event(.connected(accessPoint: "", network: nil))), ("<3>", .event(.other)),
            ("<", .answer("<")), ("", .answer("")),
        ]
        for (text, message) in texts { #expect(SupplicantMessage(text) == message) }
    }

    @Test("The stored line keeps names, passwords and the country") func stored() throws {
        var networks = WiFiNetworks(country: WiFiCountry(rawValue: "SE"))
        networks.add(office)
        networks.add(WiFiNetwork(WiFiName(bytes: [0, 32, 58, 255])!, password: nil))
        networks.add(home, address: try FixedAddress("192.168.1.20/24", router: "", nameServers: ["9.9.9.9"]))
        #expect(WiFiNetworks(line: networks.line) == networks && networks.addresses.count == 1)
        #expect(WiFiNetworks(line: WiFiNetworks().line) == WiFiNetworks())
        #expect(networks.remove(home.name) && networks.addresses.isEmpty)
        for number in 0..<30 { networks.add(WiFiNetwork(WiFiName("\(number)")!, password: nil)) }
        #expect(networks.list.count == WiFiNetworks.limit && networks.list.first?.name == WiFiName("29"))
        for line in [
            "", "D", "-- 68", "-- 68:zz", "-- :", "-- 68: 68:", "-- 68:3132", "DE  ", "-- 68::x",
            "-- 68::192.168.1.20/24", "-- 68::192.168.1.20/24,-:",
        ] {
            #expect(WiFiNetworks(line: line) == nil, "\(line)")
        }
    }

    @Test("A password does not appear in descriptions") func secrets() {
        let text = "\(home) \(String(reflecting: home)) \(WiFiRequest.join(home, country: nil))"
        #expect(!text.contains("correct horse"))
        var dumped = ""
        dump(home, to: &dumped)
        #expect(!dumped.contains("correct horse"))
    }

    @Test("The password of the plug's own network follows from the label") func labels() throws {
        let plug = PlugID(rawValue: "0123456789ab")!
        let code = try SetupCode(text: "ABCD-EFGH-IJKL-MNOP")
        let first = WiFiMachine.Label(plug: plug, code: code)
        #expect(first == WiFiMachine.Label(plug: plug, code: code))
        #expect(first.password.secret.count == 12 && first.scannedText.hasPrefix("WIFI:T:WPA;S:Plug-"))
        let other = WiFiMachine.Label(plug: plug, code: try SetupCode(text: "ABCD-EFGH-IJKL-MNOQ"))
        #expect(first.password != other.password)
    }
}
