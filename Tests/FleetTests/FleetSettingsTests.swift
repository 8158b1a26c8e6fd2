import ConfigurationFiles
import Fleet
import FleetService
import Testing

@Suite struct FleetSettingsTests {
    private func read(_ text: String) throws(ConfigurationError) -> FleetSettings {
        try FleetSettings(Array(text.utf8), file: "/etc/smartplug/fleet.toml", home: "/home/me")
    }

    private func mistakes(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch {
            return error.mistakes.map { "\($0.line ?? 0) \($0)" }
        }
    }

    private let database = "[postgresql]\nhost = \"db.local\"\npassword_file = \"secret\"\n"

    @Test("The file assigns roles by person and house pattern") func rolesAreThoseOfTheHousesThatAreNamed() throws {
        let settings = try read(
            database + """
                [broker]
                host = "broker.local"
                password_file = "other"
                user = "fleet"
                [owner]
                plugctl = "*"
                [user]
                Anna = ["elm-5", "oak-*"]
                "Peter & Paul" = "oak-1"
                [viewer]
                Anna = "*"
                """)
        #expect(settings.rights(of: nil).role(in: "anything") == .owner)
        let anna = settings.rights(of: "Anna")
        #expect(anna.role(in: "oak-7") == .user && anna.role(in: "elm-6") == .viewer)
        #expect(settings.rights(of: "Peter & Paul").role(in: "oak-1") == .user)
        #expect(settings.rights(of: "anna").isEmpty && settings.rights(of: "owner").isEmpty)
        #expect(settings.secretPaths == ["/etc/smartplug/secret", "/etc/smartplug/other"])
        #expect(settings.prefix == "smartplug" && settings.broker?.servers.first?.port == 8883)
    }

    @Test("A file without a broker and roles grants no rights") func withoutABrokerNobodySwitches() throws {
        let settings = try read(database)
        #expect(settings.broker == nil && settings.rights(of: nil).isEmpty)
    }

    @Test(
        "A file without a database is rejected",
        arguments: [
            ("", "postgresql"), ("[owner]\nplugctl = \"*\"\n", "postgresql"),
        ])
    func aDatabaseIsNeeded(_ text: String, _ word: String) {
        #expect(mistakes(text).contains { $0.contains(word) }, "\(mistakes(text))")
    }

    @Test("Each mistake is reported with its line") func whatIsWrongIsToldWithItsLine() {
        let found = mistakes(
            database + "[user]\nAnna = [\"elm-5\", \"*-6\"]\nBert = 5\n[guest]\nEve = \"*\"\n[broker]\nprefix = \"#\"\n"
        )
        #expect(found.count == 5, "\(found)")
        #expect(found.contains { $0.hasPrefix("5 ") && $0.contains("*-6") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("6 ") }, "\(found)")
        #expect(found.contains { $0.contains("guest") }, "\(found)")
        #expect(found.contains { $0.contains("broker's name or address") }, "\(found)")
    }
}
