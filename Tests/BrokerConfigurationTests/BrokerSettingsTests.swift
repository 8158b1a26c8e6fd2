import ConfigurationFiles
import Testing

@testable import BrokerConfiguration

@Suite struct BrokerSettingsTests {
    private func read(_ text: String) throws(ConfigurationError) -> BrokerSettings {
        try BrokerSettings(Array(text.utf8), file: "/etc/smartplug/broker.toml", home: "/home/me")
    }

    private func mistakes(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch {
            return error.mistakes.map { "\($0.line ?? 0) \($0)" }
        }
    }

    @Test("A file with only a host has the defaults for all other settings") func oneLineIsEnough() throws {
        let settings = try read("[broker]\nhost = \"broker.local\"\n")
        #expect(settings.account.servers.map(\.host) == ["broker.local"])
        #expect(settings.account.servers.map(\.port) == [8883])
        #expect(settings.account.trust == .machine)
        #expect(settings.tree.availability == "smartplug/home/availability")
        #expect(settings.takesCommands)
        #expect(settings.discovery?.prefix == "homeassistant")
    }

    @Test("A file with all tables and most keys is parsed") func everythingCanBeSaid() throws {
        let settings = try read(
            """
            [broker]
            host = ["a.local", "b.local:8884", "[fe80::1]:1", "::1"]
            port = 1000
            ca = "ca.pem"
            certificate = "~/me.pem"
            key = "/keys/me.key"
            user = "me"
            password_file = "secret"
            prefix = "campus/smartplug"
            house = "floor-2"
            commands = false
            [home_assistant]
            discovery = false
            """)
        #expect(
            settings.account.servers.map { "\($0.host) \($0.port)" } == [
                "a.local 1000", "b.local 8884", "fe80::1 1", "::1 1000",
            ])
        #expect(settings.account.trust == .file("/etc/smartplug/ca.pem"))
        #expect(settings.account.certificate?.chain == "/home/me/me.pem")
        #expect(settings.account.secretPaths == ["/etc/smartplug/secret", "/keys/me.key"])
        #expect(settings.tree.availability == "campus/smartplug/floor-2/availability")
        #expect(!settings.takesCommands)
        #expect(settings.discovery == nil)
    }

    @Test("Without TLS the default port is 1883") func withoutTLSThePortIsAnother() throws {
        let settings = try read("[broker]\nhost = \"127.0.0.1\"\ntls = \"off\"\n")
        #expect(settings.account.servers.map(\.port) == [1883])
        #expect(settings.account.trust == .plain)
    }

    @Test(
        "A mistake is reported once with its reason",
        arguments: [
            ("[broker]\n", "missing: the broker's name"), ("[broker]\nhost = 3\n", "in quotation marks"),
            ("[broker]\nhost = []\n", "list of 0"), ("[broker]\nhost = \"a:99999\"\n", "is not a name or address"),
            ("[broker]\nhost = \"a b\"\n", "is not a name or address"),
            ("[broker]\nhost = \"a\"\nhouse = \"a/b\"\n", "a house has"),
            ("[broker]\nhost = \"a\"\nprefix = \"a/#\"\n", "a prefix has"),
            ("[broker]\nhost = \"a\"\nkey = \"k\"\n", "certificate"),
            ("[broker]\nhost = \"a\"\npassword_file = \"k\"\n", "user"),
            ("[broker]\nhost = \"a\"\nhots = 1\n", "did you mean host?"),
            ("[broker]\nhost = \"a\"\ntls = \"off\"\nca = \"x\"\n", "tls is off"),
        ])
    func aMistakeIsNamed(_ text: String, _ words: String) {
        let mistakes = mistakes(text)
        #expect(mistakes.count == 1 && mistakes[0].contains(words), "\(mistakes)")
    }
}
