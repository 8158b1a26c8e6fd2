import ConfigurationFiles
import SystemUpdates
import Testing

@Suite struct UpdateSettingsTests {
    private func read(_ text: String) throws(ConfigurationError) -> UpdateSettings {
        try UpdateSettings(Array(text.utf8), file: "/etc/smartplug/updates.toml", home: "/home/me")
    }

    @Test(
        "The source is a server or a folder",
        arguments: [
            ("https://example.org/plugs", "https://example.org/plugs/"), ("http://[::1]:80/", "http://[::1]:80/"),
            ("systems", "/etc/smartplug/systems/"), ("~/systems/", "/home/me/systems/"), ("/srv", "/srv/"),
        ])
    func aSourceIsAServerOrAFolder(written: String, expected: String) throws {
        let settings = try read("[updates]\nsource = \"\(written)\"\n")
        #expect(settings.restart == .whenOff && !settings.allowsBroker)
        switch settings.source {
        case .server(let address): #expect(address == expected && written.hasPrefix("http"))
        case .folder(let path): #expect(path == expected && !written.hasPrefix("http"))
        case .file: Issue.record("a file")
        }
    }

    @Test("The restart and the broker's rights are settings") func allKeysAreRead() throws {
        let settings = try read(
            "[updates]\nsource = \"/srv\"\nrestart = \"later\"\nbroker = true\nquiet_time = \"23:00-05:00\"\n")
        #expect(settings.restart == .later && settings.allowsBroker)
        #expect(settings.quietTime?.contains(0) == true && settings.quietTime?.contains(12 * 60) == false)
    }

    @Test(
        "Each mistake is reported with its place",
        arguments: [
            ("", "source"), ("[updates]\nsource = 3\n", "source"),
            ("[updates]\nsource = \"ftp://host/a\"\n", "http://"),
            ("[updates]\nsource = \"/srv\"\nrestart = \"soon\"\n", "when-off"),
            ("[updates]\nsource = \"/srv\"\nbroker = \"yes\"\n", "broker"),
            ("[updates]\nsource = \"/srv\"\nquiet_time = \"at night\"\n", "02:00-05:00"),
            ("[updates]\nsource = \"/srv\"\nhour = 3\n", "hour"), ("[update]\nsource = \"/srv\"\n", "update"),
        ])
    func mistakesAreReported(_ text: String, _ word: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error.map { "\($0)".contains(word) } == true, "\(error?.description ?? "")")
    }
}
