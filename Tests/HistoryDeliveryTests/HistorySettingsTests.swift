import ConfigurationFiles
import PostgreSQL
import Testing

@testable import HistoryDelivery

@Suite struct HistorySettingsTests {
    private func read(_ text: String) throws(ConfigurationError) -> HistorySettings {
        try HistorySettings(Array(text.utf8), file: "/etc/smartplug/history.toml", home: "/home/me")
    }

    private func mistakes(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try read(text)
            return []
        } catch {
            return "\(error)".split(separator: "\n").map(String.init)
        }
    }

    @Test("A file with all tables and most keys is parsed") func allOfItIsRead() throws {
        let settings = try read(
            """
            [house]
            name = "Elm Street 5"
            [labels]
            city = "Köln"
            [postgresql]
            host = "database.local"
            port = 5433
            database = "plugs"
            user = "house"
            password_file = "~/secret"
            ca = "ca.pem"
            samples = false
            [remote_write]
            url = "https://metrics.local/api/v1/write"
            token_file = "token"
            interval = 30
            """)
        #expect(settings.house == "Elm Street 5" && settings.labels.map(\.key) == ["city"] && !settings.samples)
        let database = try #require(settings.database)
        #expect(
            database.host == "database.local" && database.port == 5433 && database.passwordFile == "/home/me/secret")
        #expect(database.encryption == .verified(authority: "/etc/smartplug/ca.pem"))
        #expect(settings.remoteWrite?.interval == .seconds(30))
        #expect(settings.secretPaths == ["/home/me/secret", "/etc/smartplug/token"])
    }

    @Test("Missing tables disable their destinations") func whatIsNotThereIsNotUsed() throws {
        let settings = try read("[house]\nname = \"a\"\n[postgresql]\nhost = \"/run/postgresql\"\n")
        #expect(settings.database?.encryption == .off && settings.remoteWrite == nil && settings.samples)
        #expect(try read("[house]\nname = \"a\"\n").database == nil)
    }

    @Test("Each mistake is reported with its line") func whatIsWrongIsToldWithItsLine() {
        let told = mistakes(
            """
            [house]
            nam = "a"
            [labels]
            City = "Bonn"
            plug = "x"
            [postgresql]
            port = 99999
            tls = "maybe"
            [remote_write]
            url = "ftp://x"
            user = "me"
            """
        ).joined(separator: "\n")
        for place in [
            "history.toml:2", "history.toml:4", "history.toml:5", "history.toml:7", "history.toml:8", "history.toml:9",
        ] {
            #expect(told.contains(place), "\(place) is not reported:\n\(told)")
        }
    }
}
