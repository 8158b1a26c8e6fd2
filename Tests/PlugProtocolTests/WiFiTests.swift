import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Requests of owners about the plug's Wi-Fi.
@Suite struct WiFiTests {
    private static let home = WiFiName("Our house")!
    private static let network = WiFiNetwork(home, password: WiFiPassword("correct horse")!)

    private func ask(_ bench: inout Bench, _ order: WiFiRequest) -> [PlugServer.Action] {
        bench.say { $0.manageWifi = WireManageWifi(order) }
    }

    @Test(
        "A request is passed to the plug, and the plug's answer to the session that sent the request",
        arguments: [
            WiFiRequest.ask, .join(network, country: nil), .join(network, country: WiFiCountry(rawValue: "DE")),
            .join(WiFiNetwork(home, password: nil), country: nil), .remove(home), .setUp,
        ])
    func answered(_ order: WiFiRequest) throws {
        let report = WiFiReport(phase: .trying(Self.home))
        var bench = Bench()
        bench.greet(first)
        #expect(ask(&bench, order) == [.shell(.manageWiFi(first, order))])
        bench.handle(.wiFi(first, .success(report)))
        let answers = bench.take().compactMap { if case .wifi(let wire) = $0 { wire } else { nil } }
        #expect(try answers.map { try $0.model() } == [report])
        // An answer without a waiting session is not sent.
        bench.handle(.wiFi(first, .success(report)))
        #expect(bench.take().isEmpty)
    }

    @Test(
        "Each phase survives the conversion",
        arguments: [
            WiFiReport.Phase.off, .searching, .trying(home), .setup, .unknown,
            .joined(WiFiReport.Link(name: home, accessPoint: "02:00:00:00:01:00")),
            .joined(WiFiReport.Link(name: home, accessPoint: "", signal: -200, megahertz: 100_000)),
        ])
    func phases(_ phase: WiFiReport.Phase) throws {
        for reason in WiFiReport.Reason.allCases {
            let report = WiFiReport(
                phase: phase, networks: [Self.home, WiFiName(bytes: [0, 255])!],
                failure: WiFiReport.Failure(Self.home, reason), country: WiFiCountry(rawValue: "SE"))
            #expect(try WireWifiStatus(report).model() == report)
        }
    }

    @Test("Only an owner may change the Wi-Fi, one request at a time") func ownersOnly() {
        for role in [Role.user, .viewer, .guest] { #expect(!role.may(.manage_wifi)) }
        #expect(Role.owner.may(.manage_wifi))
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        _ = ask(&bench, .ask)
        #expect(bench.take().compactMap(\.goodbyeReason) == [.limit])
    }

    @Test("The audit log names the network, but not its password") func audited() {
        var bench = Bench()
        bench.greet(first)
        var details: [String] = []
        for order in [WiFiRequest.ask, .join(Self.network, country: nil), .remove(Self.home), .setUp] {
            _ = ask(&bench, order)
            details += bench.server.notes.map(\.detail)
            bench.handle(.wiFi(first, .success(WiFiReport(phase: .off))))
        }
        #expect(
            details == ["the Wi-Fi network Our house", "without the Wi-Fi network Our house", "the setup of Wi-Fi"])
        #expect("\(Self.network)".contains("Our house") == false || !"\(Self.network)".contains("horse"))
    }

    @Test("A name, a password, a country or a number beyond its limit is rejected") func limits() {
        let changes: [(inout WireManageWifi) -> Void] = [
            { $0.join.ssid = .init() }, { $0.join.ssid = .init(repeating: 1, count: 33) },
            { $0.remove.ssid = .init() },
            { (wire: inout WireManageWifi) in
                wire = WireManageWifi(.join(Self.network, country: nil))
                wire.join.password = "short"
            },
            { (wire: inout WireManageWifi) in
                wire = WireManageWifi(.join(Self.network, country: nil))
                wire.join.password = "with a line\nbreak"
            },
            { (wire: inout WireManageWifi) in
                wire = WireManageWifi(.join(Self.network, country: nil))
                wire.join.country = "DEU"
            },
        ]
        for change in changes {
            var bench = Bench()
            bench.greet(first)
            var wire = WireManageWifi()
            change(&wire)
            _ = bench.say { $0.manageWifi = wire }
            #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
        }
        let link = WiFiReport.Link(name: Self.home, accessPoint: "02:00:00:00:01:00", signal: -50, megahertz: 2437)
        let wrong: [(inout WireWifiStatus) -> Void] = [
            { $0.accessPoint = String(repeating: "x", count: 18) }, { $0.signalDbm = 1 }, { $0.signalDbm = .min },
            { $0.frequencyMhz = .max }, { $0.ssid = .init() }, { $0.country = "Germany" },
            { $0.networks = .init(repeating: .init([1]), count: 17) }, { $0.failure.ssid = .init() },
        ]
        for change in wrong {
            var wire = WireWifiStatus(WiFiReport(phase: .joined(link)))
            change(&wire)
            #expect(throws: MessageFault.self) { try wire.model() }
        }
    }
}
